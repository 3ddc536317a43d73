import { Unsupported } from '../../translation/translation.js';
import { asked, formIn, PICTURE, PNG, run, targetOf } from '../images.fixture.js';
import { dialect } from './ideogram.dialect.js';

const MODEL = 'ideogram-v3';
const url = 'https://ideogram.ai/api/images/1.png';
const body = { created: '2026-11-22', data: [{ url, is_image_safe: true, seed: 1 }] };
const file = (field: string): unknown[] => [field, 'image/png', PNG.length];

describe('images of Ideogram', () => {
  it('are made by a form and fetched', async () => {
    const given = { n: 2, options: { size: '1024x1536', quality: 'low' } };
    const { calls, made } = await run(dialect, MODEL, given, [{ body }, { body: PNG }]);
    expect(calls.sent[0].at).toBe('/v1/ideogram-v3/generate');
    expect(formIn(calls.sent[0])).toEqual({
      fields: { prompt: 'A fox', aspect_ratio: '2x3', num_images: '2', rendering_speed: 'TURBO' },
      files: [],
    });
    expect(calls.downloads).toEqual([url]);
    expect(made).toMatchObject({ images: [{ picture: { bytes: PNG } }], context: { quality: 'low' } });
  });

  it.each([
    ['IMG-10', { operation: 'edit' }, 'remix', { prompt: 'A fox' }, ['image']],
    ['IMG-18', { operation: 'inpaint', mask: PICTURE }, 'inpaint', { prompt: 'A fox' }, ['image', 'mask']],
    [
      'IMG-16',
      { operation: 'reframe', aspectRatio: '2:3' },
      'reframe',
      { resolution: '832x1248' },
      ['image'],
    ],
  ] as const)('%s edits: %j', async (_id, given, service, fields, files) => {
    const { calls, made } = await run(dialect, MODEL, { ...given, images: [PICTURE] }, [
      { body },
      { body: PNG },
    ]);
    expect(calls.sent[0].at).toBe(`/v1/ideogram-v3/${service}`);
    expect(formIn(calls.sent[0])).toEqual({
      fields: { ...fields, num_images: '1', rendering_speed: 'DEFAULT' },
      files: files.map(file),
    });
    expect(made.context).toMatchObject({ quality: 'medium' });
  });

  it('marks with black what is repainted', () => {
    expect(dialect.mask).toBe('black');
  });

  it('says that a filter refused the result', async () => {
    const unsafe = { data: [{ url: null, is_image_safe: false }] };
    await expect(run(dialect, MODEL, {}, [{ body: unsafe }])).rejects.toMatchObject({
      failure: { kind: 'in_band', status: 400 },
    });
  });

  it('IMG-24 does not upscale', () => {
    expect(dialect.unsupported(asked({ operation: 'upscale' }), targetOf(MODEL))).toEqual(
      new Unsupported(null),
    );
    expect(dialect.unsupported(asked({ operation: 'edit', mask: PICTURE }), targetOf(MODEL))).toEqual(
      new Unsupported('mask'),
    );
    expect(dialect.unsupported(asked({ n: 9 }), targetOf(MODEL))).toEqual(new Unsupported('n'));
  });
});
