import { eventually } from '@gateway/testing';
import { startFleet, type Fleet } from './harness/fleet.js';
import { START_MS } from './harness/modes.js';
import { askOnce, pico, type Body } from './harness/requests.js';
import { logIn } from './harness/session.js';

const chat = { model: 'simulator/chat', messages: [{ role: 'user', content: 'Hello' }] };

describe('an edge that is killed', () => {
  let fleet: Fleet;
  beforeAll(async () => (fleet = await startFleet()), START_MS);
  afterAll(async () => void (await fleet?.stop()), START_MS);

  it('keeps in its journal what it answered: after the restart each event arrives, once, and the ledger is exact', async () => {
    const { key } = await (await logIn(fleet)).createKey('killed');
    const answered: string[] = [];
    const infer = async (stream: boolean): Promise<void> => {
      const answer = await askOnce(fleet, 'POST', '/v1/chat/completions', { key, body: { ...chat, stream } });
      expect(answer.status).toBe(200);
      answered.push(answer.requestId);
    };
    await infer(false);
    // From here on nothing leaves the journal before the kill.
    fleet.kafka.server.freeze();
    for (const stream of [false, true, false, true, false]) await infer(stream);
    const edge = fleet.process('edge');
    await edge.kill();
    fleet.kafka.server.thaw();
    await edge.restart();
    await infer(false);

    const eventsNow = async (): Promise<Body[]> =>
      (await askOnce(fleet, 'POST', '/v1/usage/events', { key, body: { org_id: 'mine' } })).body.events;
    const ids = (events: Body[]): string[] => events.map(({ request_id }) => request_id).toSorted();
    const events = await eventually(
      async () => {
        const found = await eventsNow();
        return new Set(ids(found)).size >= answered.length ? found : null;
      },
      { timeoutMs: 30_000, intervalMs: 100 },
    );
    expect(ids(events)).toEqual(answered.toSorted());
    expect(new Set(events.map(({ status }) => status))).toEqual(new Set(['success']));
    const cost = events.map(({ cost_usd }) => pico(cost_usd)).reduce((a, b) => a + b, 0n);
    const exact = async (): Promise<boolean> =>
      pico((await askOnce(fleet, 'GET', '/v1/balance', { key })).body.balance_usd) === pico('100') - cost;
    await eventually(exact);
  });
});
