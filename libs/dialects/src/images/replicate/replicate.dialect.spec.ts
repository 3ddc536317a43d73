import { Misfit } from '../../translation/translation.js';
import { asked, DATA_URL, PICTURE, PNG, run, targetOf } from '../images.fixture.js';
import { dialect } from './replicate.dialect.js';

const MODEL = 'black-forest-labs/flux-kontext-pro';
const get = 'https://api.replicate.com/v1/predictions/1';
const url = 'https://replicate.delivery/1.png';
const started = { id: '1', status: 'starting', output: null, urls: { get, cancel: `${get}/cancel` } };
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
    expect(dialect.misfit(asked({ images: [PICTURE, PICTURE] }), targetOf(MODEL))).toEqual(
      new Misfit('image'),
    );
    expect(dialect.misfit(asked({ n: 2 }), targetOf(MODEL))).toEqual(new Misfit('n'));
  });
});
