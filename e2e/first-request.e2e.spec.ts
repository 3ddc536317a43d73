import { eventually } from '@gateway/testing';
import { startAllInOne } from './harness/all-in-one.js';
import { startFleet } from './harness/fleet.js';
import type { Gateway } from './harness/gateway.js';
import { answered } from './harness/requests.js';
import { logIn } from './harness/session.js';

const BODY_LIMIT_BYTES = 33_554_432;
const START_MS = 900_000;

interface Priced {
  requestId: string;
  promptTokens: number;
  completionTokens: number;
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- what an answer holds is asserted
type Body = Record<string, any>;

async function bodyOf(answer: Response): Promise<Body> {
  return (await answer.json()) as Body;
}

/** Amounts in units of 10^-12 USD, so that the sum by hand is exact. */
function pico(usd: string): bigint {
  const [whole, fraction = ''] = usd.split('.');
  return BigInt(whole + fraction.padEnd(12, '0'));
}

describe.each([
  ['all in one', () => startAllInOne()],
  ['the fleet', () => startFleet()],
])('a first request to %s', (_name, start: () => Promise<Gateway>) => {
  let gateway: Gateway;
  const spent: Priced[] = [];

  beforeAll(async () => {
    gateway = await start();
  }, START_MS);
  afterAll(async () => {
    const ended = await gateway?.stop();
    // Every process ends by itself, in order, when it is asked to.
    expect(new Set(Object.values(ended ?? { none: 1 }))).toEqual(new Set([0]));
  }, START_MS);

  function post(path: string, body: object | Buffer, key = gateway.key): Promise<Response> {
    return answered(() =>
      fetch(`${gateway.url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: Buffer.isBuffer(body) ? new Uint8Array(body) : JSON.stringify(body),
      }),
    );
  }

  async function get(path: string): Promise<Body> {
    const answer = await answered(() =>
      fetch(`${gateway.url}${path}`, { headers: { authorization: `Bearer ${gateway.key}` } }),
    );
    expect(answer.status).toBe(200);
    return bodyOf(answer);
  }

  const chat = { model: 'simulator/chat', messages: [{ role: 'user', content: 'Hello' }] };
  const claude = {
    model: 'simulator/claude',
    max_tokens: 64,
    messages: [{ role: 'user', content: 'Hello' }],
  };

  it('EDGE-05 answers a chat completion with the printed key', async () => {
    const answer = await eventually(async () => {
      const tried = await post('/v1/chat/completions', chat);
      return tried.status === 503 ? null : tried;
    });
    expect(answer.status).toBe(200);
    const body = await bodyOf(answer);
    expect(body.choices[0].message.content).toContain('Hello');
    const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = body.usage;
    spent.push({ requestId: answer.headers.get('x-request-id') ?? '', promptTokens, completionTokens });
  });

  it('CHAT-15 streams it and ends with [DONE]', async () => {
    const answer = await post('/v1/chat/completions', {
      ...chat,
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(answer.status).toBe(200);
    const events = (await answer.text()).split('\n\n').filter((frame) => frame.startsWith('data: '));
    expect(events.at(-1)).toBe('data: [DONE]');
    const { usage } = JSON.parse(events.at(-2)?.slice('data: '.length) ?? '');
    const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = usage;
    spent.push({ requestId: answer.headers.get('x-request-id') ?? '', promptTokens, completionTokens });
  });

  it('issue 37 lists only what answers where no provider has a key', async () => {
    // In a fleet the edge may have started before the catalogue could take its report.
    const listed = await eventually(async () => {
      const models = (await get('/v1/models')) as unknown as { id: string; is_available: boolean }[];
      return models.every(({ id }) => id.startsWith('simulator/')) ? models : null;
    });
    expect(listed.length).toBeGreaterThan(0);
    expect(listed.filter((model) => !model.is_available)).toEqual([]);
  });

  it('answers a message, whole and streamed', async () => {
    const whole = await post('/v1/messages', claude);
    expect(whole.status).toBe(200);
    expect((await bodyOf(whole)).content[0].text).toContain('Hello');
    const streamed = await post('/v1/messages', { ...claude, stream: true });
    expect(streamed.status).toBe(200);
    const text = await streamed.text();
    expect(text.trim().split('\n').at(-2)).toBe('event: message_stop');
  });

  it('posts what each cost to the last decimal: list price times tokens', async () => {
    const { prompt_usd_per_1m: promptPrice, completion_usd_per_1m: completionPrice } = (
      await get('/v1/models/simulator/chat')
    ).pricing;
    expect(spent).toHaveLength(2);
    for (const { requestId, promptTokens, completionTokens } of spent) {
      const byHand =
        (pico(promptPrice) * BigInt(promptTokens) + pico(completionPrice) * BigInt(completionTokens)) /
        1_000_000n;
      expect(byHand).toBeGreaterThan(0n);
      const record = await eventually(() => get(`/v1/usage/requests/${requestId}`));
      expect(record).toMatchObject({ prompt_tokens: promptTokens, completion_tokens: completionTokens });
      expect(pico(record.cost_usd)).toBe(byHand);
    }
  });

  it('takes it from the balance, and the events sum up to the same', async () => {
    const listed = await eventually(async () => {
      const answer = await post('/v1/usage/events', { org_id: 'mine' });
      expect(answer.status).toBe(200);
      const { events, total } = await bodyOf(answer);
      return total === 4 ? (events as { cost_usd: string }[]) : null;
    });
    const sum = listed.map(({ cost_usd }) => pico(cost_usd)).reduce((a, b) => a + b, 0n);
    const balance = await get('/v1/balance');
    expect(pico(balance.balance_usd)).toBe(pico('100') - sum);
    expect(balance.reserved_usd).toBe('0');
  });

  it('IMG-02 hands out addresses of images that can be fetched', async () => {
    const asked = { model: 'simulator/image', prompt: 'A cat', response_format: 'url' };
    const answer = await eventually(async () => {
      const tried = await post('/v1/images/generations', asked);
      return tried.status === 503 ? null : tried;
    });
    const { data } = (await answer.json()) as { data: { url: string }[] };
    expect(new URL(data[0].url).origin).toBe(gateway.url);
    const image = await fetch(data[0].url);
    expect([image.status, image.headers.get('content-type')]).toEqual([200, 'image/png']);
  });

  it('LIM-13 LIM-34 takes a body of 33,554,432 bytes, and answers one byte more with plain HTML', async () => {
    const padded = (size: number): Buffer => Buffer.from(JSON.stringify(chat).padEnd(size, ' '));
    expect((await post('/v1/chat/completions', padded(BODY_LIMIT_BYTES))).status).toBe(200);
    const refused = await post('/v1/chat/completions', padded(BODY_LIMIT_BYTES + 1));
    expect(refused.status).toBe(413);
    expect(refused.headers.get('content-type')).toContain('text/html');
    expect(refused.headers.get('x-request-id')).toBeNull();
    await refused.text();
  });

  it('AUTH-30 ST-03 logs the first admin in, and refuses the next request of a deleted key with 403', async () => {
    const session = await logIn(gateway);
    const { id, key } = await session.createKey('to be deleted');
    const first = await post('/v1/chat/completions', chat, key);
    expect(first.status).toBe(200);
    await first.text();
    const deleted = await session.call('DELETE', `/v1/keys/${id}`);
    expect(deleted.status).toBeLessThan(300);
    const refused = await post('/v1/chat/completions', chat, key);
    expect(refused.status).toBe(403);
    expect((await bodyOf(refused)).error.code).toBe('forbidden');
  });
});
