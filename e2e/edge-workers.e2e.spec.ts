import { startUpstreamSim, type UpstreamSim } from '@gateway/simulator';
import { eventually } from '@gateway/testing';
import { startFleet, type Fleet } from './harness/fleet.js';
import { START_MS } from './harness/modes.js';
import { ask, pico, type Body } from './harness/requests.js';
import { logIn } from './harness/session.js';

const chat = { model: 'simulator/chat', messages: [{ role: 'user', content: 'Hello' }] };
const WORKERS = 2;
const REQUESTS = 8;

describe('an edge of two workers', () => {
  let fleet: Fleet;
  let upstream: UpstreamSim;
  beforeAll(async () => {
    upstream = await startUpstreamSim();
    const edge = { EDGE_WORKERS: String(WORKERS), SIMULATED_BASE_URL: `${upstream.url}/v1` };
    fleet = await startFleet({ env: { edge } });
  }, START_MS);
  afterAll(async () => {
    await fleet?.stop();
    await upstream?.close();
  }, START_MS);

  /** By worker, from the series that each of them adds to one scrape. */
  async function metric(name: string): Promise<Map<string, number>> {
    const text = await (await fetch(`${fleet.url}/metrics`)).text();
    const lines = text.matchAll(new RegExp(`^${name}\\{([^}]*)\\} (\\S+)$`, 'gm'));
    return new Map(
      [...lines].map(([, labels, value]) => [/worker="(\d+)"/.exec(labels)?.[1] ?? '', Number(value)]),
    );
  }

  /** Of every worker that was started, in that order. */
  function workerPids(): number[] {
    const lines = fleet
      .process('edge')
      .output()
      .matchAll(/"pid":(\d+),"msg":"worker started"/g);
    return [...lines].map(([, pid]) => Number(pid));
  }

  it('answers a scrape with the series of all, and is ready when all are', async () => {
    const { status } = await fetch(`${fleet.url}/readyz`);
    expect(status).toBe(200);
    expect([...(await metric('gateway_journal_backlog_records')).keys()].toSorted()).toEqual(['0', '1']);
    expect(await metric('gateway_worker_restarts_total')).toEqual(
      new Map([
        ['0', 0],
        ['1', 0],
      ]),
    );
  });

  it('serves on while a killed worker is started again, and loses no event', async () => {
    const { key } = await (await logIn(fleet)).createKey('workers');
    const answered: string[] = [];
    // A killed worker breaks its connections, and a busy box may answer 503: both are tried again, as a client does.
    const infer = (): Promise<unknown> =>
      eventually(
        async () => {
          const answer = await ask(fleet, 'POST', '/v1/chat/completions', { key, body: chat }).catch(
            () => null,
          );
          if (answer?.status === 200) answered.push(answer.requestId);
          return answer?.status === 200;
        },
        { timeoutMs: 20_000, intervalMs: 20 },
      );
    // From here on nothing leaves a journal before the kill.
    fleet.kafka.server.freeze();
    for (let at = 0; at < 6; at += 1) await infer();
    const [pid] = workerPids();
    process.kill(pid, 'SIGKILL');
    for (let at = 0; at < 4; at += 1) await infer();
    fleet.kafka.server.thaw();
    const restarted = async (): Promise<boolean> =>
      [...(await metric('gateway_worker_restarts_total')).values()].reduce((a, b) => a + b, 0) === 1;
    await eventually(restarted, { timeoutMs: 30_000, intervalMs: 100 });
    const ready = async (): Promise<boolean> => (await fetch(`${fleet.url}/readyz`)).status === 200;
    await eventually(ready, { timeoutMs: 30_000, intervalMs: 100 });
    for (let at = 0; at < 4; at += 1) await infer();

    const events = await eventually(
      async () => {
        const { body } = await ask(fleet, 'POST', '/v1/usage/events', { key, body: { org_id: 'mine' } });
        const found = body.events as Body[];
        const ids = new Set(found.map(({ request_id }) => request_id as string));
        return answered.every((id) => ids.has(id)) ? found : null;
      },
      { timeoutMs: 60_000, intervalMs: 200 },
    );
    const ids = events.map(({ request_id }) => request_id as string);
    expect(new Set(ids).size).toBe(ids.length);
    expect(answered.filter((id) => !ids.includes(id))).toEqual([]);
    const cost = events.map(({ cost_usd }) => pico(cost_usd as string)).reduce((a, b) => a + b, 0n);
    const exact = async (): Promise<boolean> =>
      pico((await ask(fleet, 'GET', '/v1/balance', { key })).body.balance_usd as string) ===
      pico('100') - cost;
    await eventually(exact, { timeoutMs: 10_000 });
  }, 180_000);

  it(
    'U09 SIGTERM drains every worker: what is under way is answered, no process is left',
    async () => {
      const alive = workerPids().slice(1);
      upstream.script(Array<string>(REQUESTS).fill('latency=2000'));
      const body = { ...chat, stream: true };
      const answers = Array.from({ length: REQUESTS }, () =>
        ask(fleet, 'POST', '/v1/chat/completions', { body }),
      );
      await eventually(() => upstream.requests().length === REQUESTS, { timeoutMs: 30_000 });
      const ended = await fleet.stop();
      for (const { status, text } of await Promise.all(answers)) {
        expect(status).toBe(200);
        expect(text).toMatch(/data: \[DONE\]\n\n$/);
      }
      expect(ended['edge-0']).toBe(0);
      expect(alive).toHaveLength(WORKERS);
      for (const pid of alive) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    },
    START_MS,
  );
});
