import { Unsupported } from '../../translation/translation.js';
import { asked, DATA_URL, PICTURE, PNG, run, targetOf } from '../images.fixture.js';
import { dialect } from './replicate.dialect.js';

const MODEL = 'black-forest-labs/flux-kontext-pro';
const get = 'https://api.replicate.com/v1/predictions/1';
const url = 'https://replicate.delivery/1.png';
const started = { id: '1', status: 'starting', output: null, urls: { get, cancel: `${get}/cancel` } };
const fox = { prompt: 'A fox', image: DATA_URL };
const succeeded = { ...started, status: 'succeeded', output: [url] };

describe('images of Replicate', () => {
  it('are predictions, looked at where the answer says', async () => {
    const { calls } = await run(dialect, MODEL, { operation: 'edit', images: [PICTURE] }, [
      { status: 201, body: started },
      { body: { ...started, status: 'processing' } },
      { body: succeeded },
      { body: PNG },
    ]);
    expect(calls.sent[0]).toMatchObject({
      at: `/models/${MODEL}/predictions`,
      headers: { prefer: 'wait=10' },
      json: { input: { prompt: 'A fox', input_image: DATA_URL } },
    });
    expect(calls.sent.slice(1).map(({ method, at }) => [method, at])).toEqual([
      ['GET', get],
      ['GET', get],
    ]);
    expect(calls.downloads).toEqual([url]);
  });

  it.each([
    ['IMG-01', {}, { prompt: 'A fox' }],
    ['IMG-10', { operation: 'edit', images: [PICTURE] }, fox],
    ['IMG-18', { operation: 'inpaint', images: [PICTURE], mask: PICTURE }, { ...fox, mask: DATA_URL }],
    ['IMG-13', { operation: 'outpaint', images: [PICTURE], mask: PICTURE }, { ...fox, mask: DATA_URL }],
    [
      'IMG-12',
      { operation: 'upscale', prompt: '', images: [PICTURE], upscaleFactor: 4 },
      { image: DATA_URL, scale: 4 },
    ],
    [
      'IMG-16',
      { operation: 'reframe', images: [PICTURE], aspectRatio: '3:2' },
      { ...fox, aspect_ratio: '3:2' },
    ],
    [
      'IMG-11',
      { operation: 'remove_background', prompt: '', images: [PICTURE] },
      { ...fox, prompt: 'Remove the background. Keep the subject exactly as it is.' },
    ],
    [
      'IMG-01',
      { options: { seed: 7, output_format: 'jpeg', size: '512x256' } },
      { prompt: 'A fox', aspect_ratio: '2:1', seed: 7, output_format: 'jpg' },
    ],
  ] as const)('%s send what belongs to the request alone: %j', async (_id, given, input) => {
    const { calls, made } = await run(dialect, 'acme/painter', given, [{ body: succeeded }, { body: PNG }]);
    expect(calls.sent[0]).toMatchObject({ method: 'POST', at: '/models/acme/painter/predictions' });
    expect(calls.sent[0].json).toEqual({ input });
    expect(made.images).toEqual([{ picture: { bytes: PNG } }]);
  });

  it('are not looked at where the first answer holds the result', async () => {
    const body = { ...succeeded, output: url };
    const { calls } = await run(dialect, 'acme/painter', {}, [{ status: 201, body }, { body: PNG }]);
    expect([calls.sent.length, calls.downloads]).toEqual([1, [url]]);
  });

  it.each([
    ['failed', 'NSFW content detected', 400],
    ['failed', 'out of memory', 500],
    ['canceled', '', 500],
  ])('end as %s: %j', async (status, error, expected) => {
    await expect(run(dialect, MODEL, {}, [{ body: { ...started, status, error } }])).rejects.toMatchObject({
      failure: { kind: 'in_band', status: expected },
    });
  });

  it('take one image', () => {
    expect(dialect.unsupported(asked({ images: [PICTURE, PICTURE] }), targetOf(MODEL))).toEqual(
      new Unsupported('image'),
    );
    expect(dialect.unsupported(asked({ n: 2 }), targetOf(MODEL))).toEqual(new Unsupported('n'));
  });
});
