import { parseBody, type ParsedBody } from '@gateway/json-body';
import { Unsupported } from '../../translation/translation.js';
import { asked, BASE64, formIn, PICTURE, run, targetOf } from '../images.fixture.js';
import { dialect } from './openai.dialect.js';
import { imagesUsage, shownUsage } from './usage.js';

const MODEL = 'gpt-image-2';
const body = {
  created: 1,
  data: [{ b64_json: BASE64, url: 'https://theirs.test/1.png', revised_prompt: 'A red fox', cost: 4 }],
  size: '1024x1024',
  provider: 'OpenAI',
  model: 'theirs',
};

describe('images of OpenAI', () => {
  it('IMG-01 are made from the caller’s own bytes, with the provider’s name of the model', async () => {
    const sent = '{"model":"acme/painter","prompt":"A fox","n":2,"response_format":"url","style": "x"}';
    const given = { body: parseBody(Buffer.from(sent)) as ParsedBody, n: 2 };
    const { calls, made } = await run(dialect, MODEL, given, [{ body }]);
    const [call] = calls.sent;
    expect([call.method, call.at, call.contentType, call.accept]).toEqual([
      'POST',
      '/images/generations',
      'application/json',
      'application/json',
    ]);
    expect(call.body.toString()).toBe(`{"prompt":"A fox","n":2,"style": "x","model":"${MODEL}"}`);
    expect(made.images).toEqual([{ picture: { base64: BASE64 }, members: { revised_prompt: 'A red fox' } }]);
    expect(made.members).toEqual({
      ...{ created: 1, size: '1024x1024', model: 'acme/painter', usage: undefined },
    });
    expect(made.usage).toEqual({ images: 1, image_output_tokens: 1_000 });
    expect([made.deliveredBytes, made.context]).toEqual([4_000, { size: '1024x1024' }]);
  });

  it('IMG-05 are edited by a form: pictures in order, the mask apart, what is null left out', async () => {
    const options = { quality: 'high', seed: null, output_compression: 80 };
    const given = {
      ...({ operation: 'inpaint', images: [PICTURE], references: [PICTURE], mask: PICTURE, n: 2 } as const),
      options,
    };
    const { calls, made } = await run(dialect, MODEL, given, [{ body }]);
    expect(calls.sent[0].at).toBe('/images/edits');
    const { fields, files } = formIn(calls.sent[0]);
    expect(fields).toEqual({
      model: MODEL,
      prompt: 'A fox',
      n: '2',
      quality: 'high',
      output_compression: '80',
    });
    const size = PICTURE.bytes.byteLength;
    expect(files).toEqual([
      ['image[]', 'image/png', size],
      ['image[]', 'image/png', size],
      ['mask', 'image/png', size],
    ]);
    expect(made.usage).toMatchObject({ images: 1, input_images: 2 });
  });

  it.each([
    ['IMG-10', { operation: 'edit' }, []],
    ['IMG-14', { operation: 'mix', references: [PICTURE] }, ['image[]']],
    ['IMG-13', { operation: 'outpaint', mask: PICTURE }, ['mask']],
  ] as const)('%s %j is a form with what belongs to it alone', async (_id, given, more) => {
    const { calls, made } = await run(dialect, MODEL, { ...given, images: [PICTURE] }, [{ body }]);
    expect([calls.sent[0].method, calls.sent[0].at]).toEqual(['POST', '/images/edits']);
    expect(formIn(calls.sent[0])).toEqual({
      fields: { model: MODEL, prompt: 'A fox', n: '1' },
      files: ['image[]', ...more].map((name) => [name, 'image/png', PICTURE.bytes.byteLength]),
    });
    expect(made.images).toEqual([{ picture: { base64: BASE64 }, members: { revised_prompt: 'A red fox' } }]);
  });

  it('IMG-11 have a prompt where the caller needs none, and a transparent background when they are cut out', async () => {
    const fieldsOf = async (operation: 'inpaint' | 'remove_background'): Promise<Record<string, string>> => {
      const given = { operation, prompt: '', images: [PICTURE] };
      return formIn((await run(dialect, MODEL, given, [{ body }])).calls.sent[0]).fields;
    };
    const cutOut = await fieldsOf('remove_background');
    expect(cutOut).toMatchObject({ background: 'transparent', output_format: 'png' });
    expect(cutOut.prompt).toMatch(/^Remove the background/);
    const filled = await fieldsOf('inpaint');
    expect([filled.background, filled.prompt]).toEqual([
      undefined,
      expect.stringMatching(/^Fill the marked/),
    ]);
  });

  it('IMG-24 take no reframing and no upscaling', () => {
    const unsupported = (operation: 'reframe' | 'upscale' | 'outpaint'): unknown =>
      dialect.unsupported(asked({ operation }), targetOf(MODEL));
    expect([unsupported('reframe'), unsupported('upscale')]).toEqual([
      new Unsupported(null),
      new Unsupported(null),
    ]);
    expect(unsupported('outpaint')).toBeNull();
  });

  it('are fetched where the upstream names an address instead, no more of them than were asked for', async () => {
    const data = ['a', 'b', 'c'].map((name) => ({
      url: `https://theirs.test/${name}.png`,
      revised_prompt: name,
    }));
    const replies = [{ body: { data } }, { body: PICTURE.bytes }, { body: PICTURE.bytes }];
    const { calls, made } = await run(dialect, MODEL, { n: 2 }, replies);
    expect(calls.downloads).toEqual(['https://theirs.test/a.png', 'https://theirs.test/b.png']);
    expect(made.images).toEqual([
      { picture: { bytes: Buffer.from(PICTURE.bytes) }, members: { revised_prompt: 'a' } },
      { picture: { bytes: Buffer.from(PICTURE.bytes) }, members: { revised_prompt: 'b' } },
    ]);
    expect(made.usage.images).toBe(2);
    const page = [{ body: { data } }, { body: Buffer.from('<html>') }];
    await expect(run(dialect, MODEL, {}, page)).rejects.toThrow('the address of the image gives none');
    await expect(run(dialect, MODEL, {}, [{ body: { data: [{ url: 7 }] } }])).rejects.toThrow('no image');
  });

  it('bill no more images than were asked for, and none that is empty', async () => {
    const data = [
      { b64_json: BASE64 },
      { b64_json: '' },
      { b64_json: BASE64 },
      null,
      { b64_json: '{}' },
      { b64_json: BASE64 },
    ];
    const { made } = await run(dialect, MODEL, { n: 2, images: [] }, [{ body: { data } }]);
    expect([made.images.length, made.usage.images]).toEqual([3, 2]);
    for (const none of ['', '!!!!', '\0', '{}'])
      await expect(run(dialect, MODEL, {}, [{ body: { data: [{ b64_json: none }] } }])).rejects.toThrow(
        'no image',
      );
    await expect(run(dialect, MODEL, {}, [{ body: [] }])).rejects.toThrow('no image');
  });
});

describe('what an answer of images counts', () => {
  const raw = {
    input_tokens: 100,
    output_tokens: 50,
    input_tokens_details: {
      image_tokens: 60,
      cached_tokens: 30,
      cached_tokens_details: { image_tokens: 20 },
    },
    output_tokens_details: { text_tokens: 10 },
    total_cost: 3,
  };

  it('is what was reported, and output without a split of images is that of images less the text', () => {
    expect(imagesUsage(raw, 1)).toEqual({
      usage: {
        images: 1,
        prompt_tokens: 100,
        image_input_tokens: 60,
        cached_tokens: 30,
        cached_image_tokens: 20,
        completion_tokens: 50,
        image_output_tokens: 40,
      },
      deliveredBytes: 0,
    });
    const split = { ...raw, output_tokens_details: { image_tokens: 45, text_tokens: 10 } };
    expect(imagesUsage(split, 1).usage.image_output_tokens).toBe(45);
    expect(imagesUsage({ output_tokens: 50 }, 1).usage.image_output_tokens).toBe(50);
  });

  it('is no more in any part than in the whole, and no fraction, negative, text or 0 is a count', () => {
    const over = {
      ...{ input_tokens: 5, output_tokens: 7, output_tokens_details: { image_tokens: 8 } },
      input_tokens_details: { image_tokens: 6, cached_tokens: 9, cached_tokens_details: { image_tokens: 7 } },
    };
    expect(imagesUsage(over, 1).usage).toEqual({
      images: 1,
      ...{ prompt_tokens: 5, image_input_tokens: 5, cached_tokens: 5, cached_image_tokens: 5 },
      ...{ completion_tokens: 7, image_output_tokens: 7 },
    });
    for (const none of [0, -1, 1.5, '3', null, 1_048_577, 2 ** 53, 1e308])
      expect(imagesUsage({ input_tokens: none, output_tokens: none }, 3)).toEqual({
        usage: { images: 3, image_output_tokens: 3_000 },
        deliveredBytes: 12_000,
      });
  });

  it('is shown with what is billed, the sum of both, and without money', () => {
    expect(shownUsage(raw, { prompt_tokens: 90, completion_tokens: 40 })).toEqual({
      input_tokens: 90,
      output_tokens: 40,
      total_tokens: 130,
      input_tokens_details: raw.input_tokens_details,
      output_tokens_details: raw.output_tokens_details,
    });
    expect(shownUsage({}, {})).toEqual({ input_tokens: 0, output_tokens: 0, total_tokens: 0 });
    expect([shownUsage(undefined, {}), shownUsage([], {})]).toEqual([undefined, undefined]);
  });
});
