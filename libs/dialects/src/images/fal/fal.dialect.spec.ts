import { DATA_URL, PICTURE, PNG, run } from '../images.fixture.js';
import { dialect } from './fal.dialect.js';

const status_url = 'https://queue.fal.run/fal-ai/flux-pro/requests/1/status';
const response_url = 'https://queue.fal.run/fal-ai/flux-pro/requests/1';
const url = 'https://v3.fal.media/files/1.png';
const fox = { prompt: 'A fox', image_url: DATA_URL };
const done = (answer: object): { status?: number; body: unknown }[] => [
  { body: { request_id: '1', status_url, response_url } },
  { status: 202, body: { status: 'IN_QUEUE' } },
  { status: 202, body: { status: 'IN_PROGRESS' } },
  { body: { status: 'COMPLETED' } },
  { body: answer },
  { body: PNG },
];

describe('images of fal', () => {
  it('wait in a queue, whose addresses are those of its answer', async () => {
    const { calls, made } = await run(dialect, 'fal-ai/flux/dev', { options: { size: '512x256' } }, [
      ...done({ images: [{ url, content_type: 'image/png' }] }),
    ]);
    expect(calls.sent[0]).toMatchObject({
      at: '/fal-ai/flux/dev',
      json: { prompt: 'A fox', image_size: { width: 512, height: 256 } },
    });
    expect(calls.sent.slice(1).map(({ method, at }) => [method, at])).toEqual([
      ['GET', status_url],
      ['GET', status_url],
      ['GET', status_url],
      ['GET', response_url],
    ]);
    expect([calls.downloads, made.usage.images]).toEqual([[url], 1]);
  });

  it.each([
    ['IMG-10', { operation: 'edit' }, fox],
    [
      'IMG-14',
      { operation: 'mix', references: [PICTURE] },
      { prompt: 'A fox', image_urls: [DATA_URL, DATA_URL] },
    ],
    ['IMG-18', { operation: 'inpaint', mask: PICTURE }, { ...fox, mask_url: DATA_URL }],
    ['IMG-13', { operation: 'outpaint', mask: PICTURE }, { ...fox, mask_url: DATA_URL }],
    [
      'IMG-12',
      { operation: 'upscale', prompt: '', upscaleFactor: 2 },
      { image_url: DATA_URL, upscale_factor: 2 },
    ],
    ['IMG-16', { operation: 'reframe', aspectRatio: '3:2' }, { ...fox, aspect_ratio: '3:2' }],
    [
      'IMG-11',
      { operation: 'remove_background', prompt: '' },
      { ...fox, prompt: 'Remove the background. Keep the subject exactly as it is.' },
    ],
  ] as const)('%s edits: %j', async (_id, given, json) => {
    const asked = { ...given, images: [PICTURE] };
    const { calls, made } = await run(dialect, 'fal-ai/flux-pro/kontext', asked, done({ image: { url } }));
    expect(calls.sent[0]).toMatchObject({ method: 'POST', at: '/fal-ai/flux-pro/kontext' });
    expect(calls.sent[0].json).toEqual(json);
    expect(made.images).toEqual([{ picture: { bytes: PNG } }]);
  });

  it('fetch no more images than were asked for, however many an answer names', async () => {
    const images = Array.from({ length: 5 }, () => ({ url }));
    const { calls, made } = await run(dialect, 'fal-ai/flux/dev', { n: 2 }, [
      ...done({ images }),
      { body: PNG },
    ]);
    expect([calls.downloads.length, made.images.length, made.usage.images]).toEqual([2, 2, 2]);
  });

  it('say that the task failed', async () => {
    const [task] = done({});
    await expect(
      run(dialect, 'fal-ai/flux/dev', {}, [task, { body: { status: 'COMPLETED', error: 'no GPU' } }]),
    ).rejects.toMatchObject({ failure: { kind: 'in_band', status: 500 } });
  });
});
