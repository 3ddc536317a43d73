import type { UpstreamSim } from '@gateway/simulator';
import { eventually } from '@gateway/testing';
import { startBalancer } from './harness/balancer.js';
import { startDoubledFleet, type DoubledFleet } from './harness/doubled-fleet.js';
import type { Fleet } from './harness/fleet.js';
import { startLoad } from './harness/callers.js';
import { eventsOf, expectEvents } from './harness/key-events.js';
import { START_MS } from './harness/modes.js';
import { ask } from './harness/requests.js';
import { logIn, type PersonSession } from './harness/session.js';

const chat = { model: 'simulator/chat', messages: [{ role: 'user', content: 'Hello' }], stream: true };
/** Far above what anything here takes; a test that reaches it hangs. */
const HANG_MS = 300_000;

describe('a fleet with two of each service, operated as the pages say', () => {
  let doubled: DoubledFleet;
  let fleet: Fleet;
  let upstream: UpstreamSim;
  let person: PersonSession;

  beforeAll(async () => {
    doubled = await startDoubledFleet(startBalancer, { DRAIN_GRACE_MS: '20000' });
    ({ fleet, upstream, person } = doubled);
  }, START_MS);
  afterAll(() => doubled?.stop(), START_MS);

  it(
    'U09 SIGTERM under 200 streams: none shorter than the grace is cut, no event is lost, no 5xx',
    async () => {
      const { id, key } = await person.createKey('drained', { rpm: 1_000 });
      upstream.script([], `text=${'word%20'.repeat(30)};delay=100`);
      const streams = Array.from({ length: 200 }, () =>
        ask({ url: doubled.second.edge.url, key }, 'POST', '/v1/chat/completions', { body: chat }),
      );
      await eventually(() => upstream.requests().filter(({ state }) => state === 'open').length === 200, {
        timeoutMs: 30_000,
      });
      const ended = doubled.second.edge.end(60_000);
      const answers = await Promise.all(streams);
      upstream.script([]);
      expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
      expect(answers.filter(({ text }) => !text.endsWith('data: [DONE]\n\n'))).toEqual([]);
      expect(await ended).toBe(0);
      await expectEvents(
        doubled.database,
        id,
        answers.map(({ requestId }) => requestId),
      );
      await doubled.second.edge.restart();
    },
    HANG_MS,
  );

  it(
    'U09 a stream longer than the grace ends with an in-band error and has its event',
    async () => {
      const { id, key } = await person.createKey('cut off');
      const brief = await fleet.startReplica('edge', { DRAIN_GRACE_MS: '500' });
      upstream.script([], 'endless;delay=20');
      const stream = ask({ url: brief.url, key }, 'POST', '/v1/chat/completions', { body: chat });
      await eventually(() => upstream.requests().filter(({ state }) => state === 'open').length === 1);
      expect(await brief.end()).toBe(0);
      upstream.script([]);
      const { status, text, requestId } = await stream;
      expect(status).toBe(200);
      expect(text).toContain('service_draining');
      expect(text).not.toContain('[DONE]');
      const [event] = await expectEvents(doubled.database, id, [requestId]);
      expect(event).toMatchObject({ status: 'error', error_code: 'service_draining' });
    },
    HANG_MS,
  );

  it(
    'U10 kill -9 of one of three edges: errors on its connections only, and every event comes',
    async () => {
      const { id, key } = await person.createKey('killed', { rpm: 1_000 });
      const third = await fleet.startReplica('edge');
      const loads = [fleet.url, doubled.second.edge.url, third.url].map((url) =>
        startLoad({ url, key }, { callers: 2, pauseMs: 50 }),
      );
      await eventually(() => loads.every((load) => load.soFar().inferred.length > 5), { timeoutMs: 30_000 });
      await third.kill();
      const ofKilled = loads[2].soFar().inferred.length;
      await eventually(() => loads.slice(0, 2).every((load) => load.soFar().inferred.length > ofKilled + 5), {
        timeoutMs: 30_000,
      });
      const results = await Promise.all(loads.map((load) => load.stop()));
      expect([results[0].failed, results[1].failed]).toEqual([[], []]);
      expect(results[2].failed.length).toBeGreaterThan(0);
      // Its successor ships what it had answered, and closes what it had not.
      await third.restart();
      const whole = results.flatMap(({ inferred }) => inferred);
      await eventually(
        async () => {
          const known = new Set((await eventsOf(doubled.database, id)).map(({ request_id }) => request_id));
          return whole.every((requestId) => known.has(requestId));
        },
        { timeoutMs: 60_000 },
      );
      const events = await eventsOf(doubled.database, id);
      expect(new Set(events.map(({ request_id }) => request_id)).size).toBe(events.length);
      // A request that was cut may have been answered by its upstream; if not, it is closed unbilled.
      const others = events.filter(({ request_id }) => !whole.includes(request_id));
      expect(others.length).toBeLessThanOrEqual(2);
      for (const event of others.filter(({ status }) => status === 'error'))
        expect(event).toMatchObject({ error_code: 'gateway_crash', cost: null });
      expect(await third.end()).toBe(0);
    },
    HANG_MS,
  );

  const urlsOf = (app: 'edge' | 'keys'): string[] => [fleet.urls[app], doubled.second[app].url];

  it(
    'K09 K10 K11 changes and new keys act on the next request at the other edge',
    async () => {
      const at = (n: number, key: string): Promise<number> =>
        ask({ url: urlsOf('edge')[n % 2], key }, 'POST', '/v1/chat/completions', { body: chat }).then(
          ({ status }) => status,
        );
      for (let n = 0; n < 10; n += 1) {
        const { id, key } = await person.createKey(`fresh ${n}`);
        expect(await at(n, key)).toBe(200);
        expect((await person.call('DELETE', `/v1/keys/${id}`)).status).toBe(200);
        expect(await at(n + 1, key)).toBe(403);
        expect((await person.call('POST', `/v1/keys/${id}/reactivate`)).status).toBe(200);
        expect([await at(n, key), await at(n + 1, key)]).toEqual([200, 200]);
        const narrowed = { allowed_models: ['simulator/claude'] };
        expect((await person.call('PATCH', `/v1/keys/${id}`, narrowed)).status).toBe(200);
        expect([await at(n, key), await at(n + 1, key)]).toEqual([404, 404]);
        expect((await person.call('PATCH', `/v1/keys/${id}`, { allowed_models: null })).status).toBe(200);
        expect(await at(n + 1, key)).toBe(200);
      }
      const leaving = await logIn(fleet);
      const me = (url: string): Promise<number> =>
        fetch(`${url}/auth/me`, { headers: { authorization: `Bearer ${leaving.token}` } }).then(
          (r) => r.status,
        );
      expect(await Promise.all([...urlsOf('keys'), ...urlsOf('edge')].map(me))).toEqual([200, 200, 200, 200]);
      expect((await leaving.call('POST', '/auth/logout')).status).toBeLessThan(300);
      expect(await Promise.all([...urlsOf('keys'), ...urlsOf('edge')].map(me))).toEqual([401, 401, 401, 401]);
    },
    HANG_MS,
  );
});
