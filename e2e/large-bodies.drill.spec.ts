import { eventually } from '@gateway/testing';
import { startFleet, type Fleet } from './harness/fleet.js';
import { metric, startLoad } from './harness/load.js';
import { START_MS } from './harness/modes.js';
import { askOnce } from './harness/requests.js';

const chat = { model: 'simulator/chat', max_tokens: 16, messages: [{ role: 'user', content: 'Hello' }] };
const LARGE_BYTES = 31_000_000;
const LARGE = 3;

/** Builds a body of parts so small that parsing and checking them takes as long as a body of this size can. */
function largeBody(): Buffer {
  const part = { type: 'text', text: 'All good things come in small packages. '.repeat(16) };
  const count = Math.floor(LARGE_BYTES / JSON.stringify(part).length);
  const content = Array.from({ length: count }, () => part);
  return Buffer.from(JSON.stringify({ ...chat, messages: [{ role: 'user', content }] }));
}

describe('a fleet that is sent large bodies', () => {
  let fleet: Fleet;

  beforeAll(async () => {
    // Where the tests share two processors Redis itself may get none for 25 ms; parsing such a body takes longer than this.
    fleet = await startFleet({ env: { edge: { REDIS_COMMAND_TIMEOUT_MS: '150' } } });
    await eventually(
      async () => (await askOnce(fleet, 'POST', '/v1/chat/completions', { body: chat })).status === 200,
    );
  }, START_MS);
  afterAll(() => fleet?.stop(), START_MS);

  it('U14 31 MB beside small ones: Redis is healthy, so its breaker stays closed, and nothing stays reserved', async () => {
    const body = largeBody();
    const load = startLoad([{ url: fleet.url, keys: [fleet.key] }], chat);
    await load.more(40);
    const large: number[] = [];
    for (let n = 0; n < LARGE; n += 1) {
      large.push(
        (
          await askOnce(fleet, 'POST', '/v1/chat/completions', {
            body,
            headers: { 'content-type': 'application/json' },
          })
        ).status,
      );
      expect(await metric(fleet.url, 'gateway_redis_breakers_open')).toBe(0);
    }
    await load.more(40);
    await load.stop();
    // A busy machine may shed some of them.
    expect(large).toContain(200);
    const statuses = [...large, ...load.answers.map(({ status }) => status)];
    expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
    expect(fleet.process('edge').output()).not.toContain('The breaker of Redis');
    await eventually(async () => (await askOnce(fleet, 'GET', '/v1/balance')).body.reserved_usd === '0');
  });
});
