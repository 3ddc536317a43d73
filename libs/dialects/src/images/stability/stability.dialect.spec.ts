import { Unsupported } from '../../translation/translation.js';
import { asked, BASE64, formIn, PICTURE, PNG, run, targetOf } from '../images.fixture.js';
import { dialect } from './stability.dialect.js';

const body = { image: BASE64, finish_reason: 'SUCCESS', seed: 1 };
const sent = ['image', 'image/png', PNG.length];
const ROOT = '/v2beta/stable-image';

describe('images of Stability', () => {
  it.each([
    ['core', '/generate/core', { prompt: 'A fox', aspect_ratio: '1:1' }],
    ['sd3.5-large', '/generate/sd3', { prompt: 'A fox', aspect_ratio: '1:1', model: 'sd3.5-large' }],
  ])('are made by %s', async (model, path, fields) => {
    const { calls, made } = await run(dialect, model, { options: { size: '1024x1024' } }, [{ body }]);
    expect(calls.sent[0]).toMatchObject({ at: `${ROOT}${path}`, accept: 'application/json' });
    expect(formIn(calls.sent[0])).toEqual({ fields, files: [] });
    expect(made.images).toEqual([{ picture: { base64: BASE64 } }]);
  });

  it.each([
    ['IMG-18', { operation: 'inpaint', mask: PICTURE }, '/edit/inpaint', { prompt: 'A fox' }, ['mask']],
    ['IMG-18', { operation: 'inpaint', mask: PICTURE, prompt: '' }, '/edit/erase', {}, ['mask']],
    [
      'IMG-13',
      { operation: 'outpaint', margins: { left: 1, right: 2, up: 0, down: 4 } },
      '/edit/outpaint',
      { prompt: 'A fox', left: '1', right: '2', up: '0', down: '4' },
      [],
    ],
    [
      'IMG-11',
      { operation: 'remove_background', prompt: '' },
      '/edit/remove-background',
      { output_format: 'png' },
      [],
    ],
    ['IMG-12', { operation: 'upscale', prompt: '', upscaleFactor: 4 }, '/upscale/fast', {}, []],
  ] as const)('%s edits: %j', async (_id, given, path, fields, more) => {
    const { calls, made } = await run(dialect, 'core', { ...given, images: [PICTURE] }, [{ body }]);
    expect(calls.sent[0].at).toBe(`${ROOT}${path}`);
    expect(formIn(calls.sent[0])).toEqual({
      fields,
      files: [sent, ...more.map((name) => [name, ...sent.slice(1)])],
    });
    expect(made.usage).toMatchObject({ images: 1, input_images: 1, completion_tokens: 0 });
  });

  it('looks at a task until it is done', async () => {
    const { calls } = await run(dialect, 'ultra', {}, [
      { status: 202, body: { id: 'a/b' } },
      { status: 202, body: { id: 'a/b', status: 'in-progress' } },
      { body },
    ]);
    expect(calls.sent.slice(1).map(({ method, at }) => [method, at])).toEqual([
      ['GET', '/v2beta/results/a%2Fb'],
      ['GET', '/v2beta/results/a%2Fb'],
    ]);
  });

  it('is none where the answer names no task, or holds no bytes', async () => {
    for (const reply of [
      { status: 202, body: {} },
      { status: 202, body: { id: '\ud800' } },
      { body: { ...body, image: '{}' } },
    ])
      await expect(run(dialect, 'ultra', {}, [reply])).rejects.toMatchObject({
        failure: { kind: 'bad_response' },
      });
  });

  it('says that a filter refused it', async () => {
    await expect(
      run(dialect, 'core', {}, [{ body: { ...body, finish_reason: 'CONTENT_FILTERED' } }]),
    ).rejects.toMatchObject({ failure: { kind: 'in_band', status: 400 } });
  });

  it('IMG-24 does not edit without a mask, nor reframe', () => {
    for (const operation of ['edit', 'mix', 'reframe'] as const)
      expect(dialect.unsupported(asked({ operation }), targetOf('core'))).toEqual(new Unsupported(null));
    expect(dialect.unsupported(asked({ n: 2 }), targetOf('core'))).toEqual(new Unsupported('n'));
  });
});
