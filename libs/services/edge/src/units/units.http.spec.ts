import { get } from 'node:http';
import { eventually } from '@gateway/testing';
import { hello, startEdge, testPrincipal, type EdgeUnderTest, type Json } from '../edge.fixture.js';

/** Scripts of both upstream dialects: good answers, faults before and after the first event, silence and cuts. */
const SCRIPTS = [
  '',
  ':usage=none',
  ':usage=twice',
  ':tools=2;bytes=50',
  ':error=500',
  ':error=429-rate',
  ':error=401-key',
  ':error=context',
  ':inband=0;error=500',
  ':inband=3;error=500',
  ':cut=0',
  ':cut=3',
  ':cut=3;cut_in=utf8',
  ':cut=4;cut_how=reset',
  ':reset=before',
  ':reset=body',
  ':malformed=html',
  ':malformed=empty',
  ':malformed=truncated',
  ':malformed=utf8',
  ':malformed=shape',
  ':done=0',
  ':silent=200',
  ':hang=3000',
  ':text=word word word;delay=15',
  ':finish=length',
];
const PATHS = ['/v1/chat/completions', '/v1/messages'];

describe('units', () => {
  let edge: EdgeUnderTest;
  beforeAll(async () => (edge = await startEdge({ config: { STREAM_KEEP_ALIVE_MS: 100 } })));
  afterAll(() => edge.close());

  it('every admitted request has exactly one outcome, and the money that is settled is the sum of the costs', async () => {
    const key = edge.addKey(
      testPrincipal('key_units', {
        accountId: 'acct_units',
        routingPolicy: { attempt_timeout_ms: 400, retry_backoff_ms: 1, max_retries: 1 },
      }),
    );
    const cases = SCRIPTS.flatMap((script) =>
      ['sim-chat', 'sim-claude'].flatMap((upstream) =>
        PATHS.flatMap((path) =>
          [true, false].flatMap((stream) =>
            [true, false].map((leaves) => ({ upstream: upstream + script, path, stream, leaves })),
          ),
        ),
      ),
    );
    let served = 0;
    const ask = async (
      { upstream, path, stream, leaves }: (typeof cases)[number],
      at: number,
    ): Promise<void> => {
      const model = edge.serve(`units/m${at}`, upstream);
      const caller = new AbortController();
      const timer = leaves ? setTimeout(() => caller.abort(), (at * 7) % 90) : undefined;
      try {
        const response = await edge.post(hello(model, { stream }), { path, key, signal: caller.signal });
        await response.text();
        if (response.ok) served += 1;
      } catch {
        // The caller left, or its answer was cut: what counts is the record.
      } finally {
        clearTimeout(timer);
      }
    };
    for (let at = 0; at < cases.length; at += 16) {
      await Promise.all(cases.slice(at, at + 16).map((one, offset) => ask(one, at + offset)));
    }
    const { journal } = edge;
    const state = (): ReturnType<typeof edge.limits.read> =>
      edge.limits.read('acct_units', [{ kind: 'key', id: 'key_units' }]);
    // What callers that left at once have sent may still wait to be accepted: a new connection is accepted after it.
    await new Promise((resolve, reject) => {
      get(`${edge.url}/readyz`, { agent: false }, (answer) => answer.resume().once('end', resolve)).once(
        'error',
        reject,
      );
    });
    const admitted = await eventually(async () => {
      const { rpd } = (await state()).scopes[0];
      return journal.stats().openUnits === 0 && edge.shipped().length === rpd ? rpd : null;
    });
    const records = edge.shipped();
    expect(new Set(records.map(({ request_id }) => request_id)).size).toBe(admitted);
    expect(records.map(({ seq }) => seq)).toEqual(records.map((_record, at) => at + 1));
    expect(served).toBeGreaterThan(20);
    await eventually(async () => (await state()).reservedUnits === 0);
    const nano = records.reduce(
      (sum, { cost_usd }) => sum + BigInt(Math.round(Number(cost_usd ?? 0) * 1e9)),
      0n,
    );
    expect((await state()).unpostedNano).toBe(nano);
    for (const record of records) {
      expect(record.outcome === 'failed').toBe(record.status === 'error');
      if (record.outcome === 'failed') expect(record.cost_usd).toBeNull();
      if (record.outcome === 'served') expect(Number(record.cost_usd)).toBeGreaterThan(0);
      const attempts = record.attempts as Json[];
      expect(attempts.filter(({ served: isServed }) => isServed)).toHaveLength(
        record.outcome === 'served' ? 1 : 0,
      );
      expect(attempts.map(({ n }) => n)).toEqual(attempts.map((_attempt, at) => at + 1));
    }
  }, 600_000);

  it('the record carries who, what, and what its price was made from; a first token is of streams alone', async () => {
    const response = await edge.post(hello('simulator/chat'));
    expect(await edge.record(response)).toMatchObject({
      unit: 0,
      account_id: 'acct_test',
      org_id: 'org_test',
      key_id: 'key_test',
      member_id: 'usr_test',
      endpoint: '/v1/chat/completions',
      model: 'simulator/chat',
      requested_model: 'simulator/chat',
      priced_from: { provider: 'simulated', upstream_model: 'sim-chat', tier: 'default', discount_pct: null },
      limits: [{ scope: 'key', scope_id: 'key_test', rpm_limit: 10_000, rpd_limit: 100_000 }],
      cache_hit: false,
      ttft_ms: null,
    });
  });

  it('K15 rejections of one key and code beyond ten a second are added up, none is lost', async () => {
    const key = edge.addKey(testPrincipal('key_hammer'));
    const tries = 60;
    await Promise.all(Array.from({ length: tries }, () => edge.post(hello('nobody/none'), { key })));
    const mine = (): Json[] =>
      edge.shipped('gateway.rejections.v1').filter(({ key_id }) => key_id === 'key_hammer');
    await eventually(() => mine().reduce((sum, { count }) => sum + Number(count), 0) === tries);
    expect(mine().length).toBeLessThan(tries);
  });
});

describe('a clock that stands behind', () => {
  const DAY_MS = 86_400_000;

  it("LIM-27 31 days: a unit has the limit store's time to ten minutes, so that caps of 30 days count it", async () => {
    const edge = await startEdge({ storeAheadMs: 31 * DAY_MS });
    const answer = await edge.post(hello('simulator/chat'));
    expect(answer.status).toBe(200);
    await answer.text();
    const { created_at: at } = await edge.record(answer);
    await edge.close();
    const aheadMs = Date.parse(String(at)) - Date.now();
    expect(Math.round(aheadMs / DAY_MS)).toBe(31);
  });

  it("the store's: a unit keeps its own", async () => {
    const edge = await startEdge({ storeAheadMs: -31 * DAY_MS });
    const answer = await edge.post(hello('simulator/chat'));
    await answer.text();
    const { created_at: at } = await edge.record(answer);
    await edge.close();
    expect(Math.abs(Date.parse(String(at)) - Date.now())).toBeLessThan(DAY_MS);
  });
});
