import { Unsupported } from '../../translation/translation.js';
import { asked, BASE64, PICTURE, run, targetOf } from '../images.fixture.js';
import { dialect } from './minimax.dialect.js';

const MODEL = 'image-01';
const ok = { status_code: 0, status_msg: 'success' };
const body = { id: 'i', data: { image_base64: [BASE64, BASE64] }, base_resp: ok };
const base = { model: MODEL, prompt: 'A fox', n: 1, response_format: 'base64' };
const unsupported = (given: Parameters<typeof asked>[0]): unknown =>
  dialect.unsupported(asked(given), targetOf(MODEL));

describe('images of MiniMax', () => {
  it.each([
    [{}, base],
    [
      { n: 2, options: { seed: 7 } },
      { ...base, n: 2, seed: 7 },
    ],
    [{ options: { size: '1024x512' } }, { ...base, width: 1024, height: 512 }],
    [
      { aspectRatio: '21:9', options: { size: '1024x512' } },
      { ...base, aspect_ratio: '21:9' },
    ],
    [{ options: { size: 'auto', quality: 'high', user: 'u' } }, base],
  ])('IMG-01 are asked for by %j, and by nothing that it does not know', async (given, json) => {
    const { calls } = await run(dialect, MODEL, given, [{ body }]);
    expect(calls.sent).toHaveLength(1);
    expect(calls.sent[0]).toMatchObject({ at: '/image_generation', method: 'POST' });
    expect(calls.sent[0].json).toEqual(json);
  });

  it('IMG-01 are those that were made, where some were filtered, and no more than were asked for', async () => {
    const { made } = await run(dialect, MODEL, { n: 3 }, [{ body }]);
    expect(made.images).toEqual([{ picture: { base64: BASE64 } }, { picture: { base64: BASE64 } }]);
    expect(made.usage).toEqual({ images: 2, prompt_tokens: 0, completion_tokens: 0 });
    expect((await run(dialect, MODEL, { n: 1 }, [{ body }])).made.usage.images).toBe(1);
  });

  it.each([
    [1002, 'rate_limit_exceeded', 429],
    [1004, 'invalid_api_key', 401],
    [2049, 'invalid_api_key', 401],
    [1008, 'insufficient_quota', 402],
    [1026, 'content_policy_violation', 400],
    [1027, 'content_policy_violation', 400],
    [2013, 'invalid_request_error', 400],
    [1000, 'server_error', 500],
    ['__proto__', 'server_error', 500],
  ])('a failure under a status of 200 is one: %s', async (status_code, code, status) => {
    const failed = { data: { image_base64: [BASE64] }, base_resp: { status_code, status_msg: 'why' } };
    const failure = { kind: 'in_band', status, message: 'why', body: { error: { code, message: 'why' } } };
    await expect(run(dialect, MODEL, {}, [{ body: failed }])).rejects.toMatchObject({ failure });
  });

  it.each([
    {},
    { data: null },
    { data: { image_base64: [] } },
    { data: { image_base64: [''] } },
    { data: { image_base64: 7 } },
  ])('takes %j for no image', async (answer) => {
    await expect(run(dialect, MODEL, {}, [{ body: answer }])).rejects.toThrow('no image');
  });

  it('IMG-24 takes texts alone, nine images, and sizes and ratios that it makes', () => {
    expect(unsupported({ operation: 'edit', images: [PICTURE] })).toEqual(new Unsupported(null));
    expect([unsupported({ n: 9 }), unsupported({ n: 10 })]).toEqual([null, new Unsupported('n', '10')]);
    expect([unsupported({ aspectRatio: '3:2' }), unsupported({ aspectRatio: '5:4' })]).toEqual([
      null,
      new Unsupported('aspect_ratio', '5:4'),
    ]);
    const size = (of: string): unknown => unsupported({ options: { size: of } });
    for (const made of ['512x2048', '1024x1024', 'auto']) expect(size(made)).toBeNull();
    for (const other of ['504x512', '512x2056', '1020x1024', '0x0'])
      expect(size(other)).toEqual(new Unsupported('size', other));
    expect(unsupported({ prompt: '😀'.repeat(1_500) })).toBeNull();
    expect(unsupported({ prompt: 'a'.repeat(1_501) })).toEqual(
      new Unsupported('prompt', undefined, 'prompts of more than 1500 characters'),
    );
  });
});
