import { Unsupported } from '../../translation/translation.js';
import { asked, BASE64, DATA_URL, PICTURE, run, targetOf } from '../images.fixture.js';
import { dialect } from './xai.dialect.js';

const MODEL = 'grok-imagine-image';
const body = { data: [{ b64_json: BASE64, revised_prompt: 'A red fox', mime_type: 'image/jpeg' }] };

describe('images of xAI', () => {
  it('are made by JSON, formats as ratios', async () => {
    const { calls, made } = await run(dialect, MODEL, { n: 2, options: { size: '1536x1024' } }, [{ body }]);
    expect(calls.sent[0]).toMatchObject({
      at: '/images/generations',
      json: { model: MODEL, prompt: 'A fox', n: 2, response_format: 'b64_json', aspect_ratio: '3:2' },
    });
    expect(made.images).toEqual([{ picture: { base64: BASE64 }, members: { revised_prompt: 'A red fox' } }]);
    expect(made.usage).toEqual({ images: 1, prompt_tokens: 0, completion_tokens: 0 });
  });

  it('IMG-05 are edited by JSON, one as image and several as images', async () => {
    const one = { type: 'image_url', url: DATA_URL };
    const edit = await run(dialect, MODEL, { operation: 'edit', images: [PICTURE] }, [{ body }]);
    expect(edit.calls.sent[0]).toMatchObject({ at: '/images/edits', json: { image: one } });
    expect(edit.made.usage.input_images).toBe(1);
    const mix = { operation: 'mix', images: [PICTURE], references: [PICTURE] } as const;
    const mixed = await run(dialect, MODEL, mix, [{ body }]);
    expect(mixed.calls.sent[0].json).toMatchObject({ images: [one, one] });
  });

  it('IMG-16 reframes by the ratio, without a prompt', async () => {
    const reframe = { operation: 'reframe', prompt: '', aspectRatio: '9:16', images: [PICTURE] } as const;
    const { calls } = await run(dialect, MODEL, reframe, [{ body }]);
    expect(calls.sent[0].json).toMatchObject({
      aspect_ratio: '9:16',
      prompt: expect.stringContaining('format'),
    });
  });

  it('IMG-24 takes no other operation, and three images', () => {
    const unsupported = (given: Parameters<typeof asked>[0]): unknown =>
      dialect.unsupported(asked(given), targetOf(MODEL));
    expect(unsupported({ operation: 'inpaint' })).toEqual(new Unsupported(null));
    expect(unsupported({ operation: 'edit', images: Array(4).fill(PICTURE) })).toEqual(
      new Unsupported('image'),
    );
    expect(unsupported({ operation: 'edit', images: Array(3).fill(PICTURE) })).toBeNull();
  });

  it('takes an answer without an image for none', async () => {
    await expect(run(dialect, MODEL, {}, [{ body: { data: [{}] } }])).rejects.toThrow('no image');
  });
});
