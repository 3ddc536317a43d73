import { Unsupported } from '../../translation/translation.js';
import { asked, BASE64, formIn, PICTURE, PNG, run, targetOf } from '../images.fixture.js';
import { dialect } from './recraft.dialect.js';

const MODEL = 'recraftv3';
const data = { data: [{ b64_json: BASE64 }, { b64_json: BASE64 }] };
const image = { image: { b64_json: BASE64 } };
const file = (field: string): unknown[] => [field, 'image/png', PNG.length];
const base = { model: MODEL, prompt: 'A fox', n: '1', response_format: 'b64_json' };

describe('images of Recraft', () => {
  it('are made in OpenAI’s format', async () => {
    const { calls, made } = await run(
      dialect,
      MODEL,
      { n: 2, options: { size: '1024x1024', style: 'any' } },
      [{ body: data }],
    );
    expect(calls.sent[0]).toMatchObject({
      at: '/images/generations',
      json: {
        model: MODEL,
        prompt: 'A fox',
        n: 2,
        size: '1024x1024',
        style: 'any',
        response_format: 'b64_json',
      },
    });
    expect(made.usage.images).toBe(2);
  });

  it.each([
    ['IMG-18', { operation: 'inpaint', mask: PICTURE }, '/images/inpaint', base, ['image', 'mask']],
    [
      'IMG-13',
      { operation: 'outpaint', margins: { left: 1, right: 2, up: 3, down: 4 } },
      '/images/outpaint',
      { ...base, expand_left: '1', expand_right: '2', expand_top: '3', expand_bottom: '4' },
      ['image'],
    ],
    [
      'IMG-11',
      { operation: 'remove_background' },
      '/images/removeBackground',
      { response_format: 'b64_json' },
      ['image'],
    ],
    ['IMG-12', { operation: 'upscale' }, '/images/crispUpscale', { response_format: 'b64_json' }, ['image']],
  ] as const)('%s edits: %j', async (_id, given, path, fields, files) => {
    const { calls, made } = await run(dialect, MODEL, { ...given, images: [PICTURE] }, [{ body: image }]);
    expect(calls.sent[0].at).toBe(path);
    expect(formIn(calls.sent[0])).toEqual({ fields, files: files.map(file) });
    expect(made.images).toEqual([{ picture: { base64: BASE64 } }]);
  });

  it('IMG-24 neither edits by words nor reframes', () => {
    for (const operation of ['edit', 'mix', 'reframe'] as const)
      expect(dialect.unsupported(asked({ operation }), targetOf(MODEL))).toEqual(new Unsupported(null));
    expect(dialect.unsupported(asked({ n: 7 }), targetOf(MODEL))).toEqual(new Unsupported('n'));
  });
});
