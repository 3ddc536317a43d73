import { Unsupported } from '../../translation/translation.js';
import { asked, PICTURE, PNG, run, targetOf } from '../images.fixture.js';
import { dialect } from './luma.dialect.js';

const MODEL = 'photon-1';
const url = 'https://storage.cdn-luma.com/1.jpg';
const done = [
  { body: { id: 't/1', state: 'queued' } },
  { body: { id: 't/1', state: 'dreaming' } },
  { body: { id: 't/1', state: 'completed', assets: { image: url } } },
  { body: PNG },
];
const kept = (at: number): object => ({ url: `https://objects.test/img_1-in-${at}.png` });

describe('images of Luma', () => {
  it('are tasks that are looked at by their id', async () => {
    const { calls, made } = await run(dialect, MODEL, { options: { size: '1024x1024' } }, [...done]);
    expect(calls.sent[0]).toMatchObject({
      at: '/generations/image',
      json: { model: MODEL, prompt: 'A fox', aspect_ratio: '1:1' },
    });
    expect(calls.sent[1]).toMatchObject({ method: 'GET', at: '/generations/t%2F1' });
    expect(calls.downloads).toEqual([url]);
    expect(made.images).toEqual([{ picture: { bytes: PNG } }]);
  });

  it.each([
    [
      'IMG-16',
      { operation: 'reframe', aspectRatio: '16:9' },
      '/generations/image/reframe',
      { media: kept(0) },
    ],
    ['IMG-10', { operation: 'edit' }, '/generations/image', { modify_image_ref: kept(0) }],
    [
      'IMG-14',
      { operation: 'mix', references: [PICTURE] },
      '/generations/image',
      { image_ref: [kept(0), kept(1)] },
    ],
  ] as const)('%s edits what the gateway’s own store keeps: %j', async (_id, given, path, json) => {
    const { calls } = await run(dialect, MODEL, { ...given, images: [PICTURE] }, [...done]);
    expect(calls.sent[0]).toMatchObject({ at: path, json });
    expect(calls.kept.get('img_1-in-0.png')).toEqual(PNG);
  });

  it.each([[undefined], [''], [7], ['\ud800']])('are no task under the name %j', async (id) => {
    await expect(run(dialect, MODEL, {}, [{ body: { id } }])).rejects.toMatchObject({
      failure: { kind: 'bad_response' },
    });
  });

  it.each([
    ['prompt was moderated', 400],
    ['', 500],
  ])('fail: %j', async (failure_reason, status) => {
    const failed = { id: '1', state: 'failed', failure_reason };
    await expect(run(dialect, MODEL, {}, [{ body: { id: '1' } }, { body: failed }])).rejects.toMatchObject({
      failure: { kind: 'in_band', status },
    });
  });

  it('IMG-24 take no mask operation, and only its own ratios', () => {
    expect(dialect.unsupported(asked({ operation: 'inpaint' }), targetOf(MODEL))).toEqual(
      new Unsupported(null),
    );
    expect(dialect.unsupported(asked({ operation: 'reframe', aspectRatio: '2:3' }), targetOf(MODEL))).toEqual(
      new Unsupported('aspect_ratio'),
    );
  });
});
