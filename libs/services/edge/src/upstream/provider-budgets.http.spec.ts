import { providerAccount, type BudgetGrant } from '@gateway/contracts';
import { eventually } from '@gateway/testing';
import { hello, keyScope, startEdge, testPrincipal, type EdgeUnderTest, type Json } from '../edge.fixture.js';
import { PoolSync } from './pool-sync.js';

let edge: EdgeUnderTest;
beforeAll(async () => {
  edge = await startEdge();
  edge.serve('acme/one', { provider: 'openai', upstreamModel: 'sim-chat:completion=90', price: '1000' });
  edge.serve(
    'acme/two',
    { provider: 'openai', upstreamModel: 'sim-chat:completion=90', price: '1000' },
    { provider: 'simulated', upstreamModel: 'sim-chat:completion=90', price: '2000' },
  );
});
afterAll(() => edge.close());

let made = 0;

/** Gives providers these budgets in place of those before, and lets the edge learn them. */
async function budgets(...changes: Partial<BudgetGrant>[]): Promise<BudgetGrant[]> {
  edge.pool.budgets.length = 0;
  for (const change of changes) {
    made += 1;
    edge.pool.budgets.push({
      ...{ id: `bud_${made}`, name: 'Secret name', scope: 'provider', scopeId: 'openai' },
      ...{ amountUsd: '0.001', raise: null, period: 'quarter', timeZone: 'Asia/Kathmandu' },
      ...{ countedFromMs: made },
      ...change,
    });
  }
  await edge.app.app.get(PoolSync).sync();
  return [...edge.pool.budgets];
}

interface Recorded {
  provider: string;
  limits: { scope: string; scope_id: string }[];
  budgets?: { budget_id: string; scope: string; scope_id: string }[];
  routing_fallback: boolean;
}
const record = async (answer: Response): Promise<Recorded> =>
  (await edge.record(answer)) as unknown as Recorded;
/** Nothing of the provider is in flight any more. */
const atRest = (): Promise<boolean> =>
  eventually(async () => (await edge.limits.read(providerAccount('openai'), [])).reservedUnits === 0);
const post = (model: string, more: Json = {}): Promise<Response> => edge.post(hello(model, more));

describe('budgets of providers', () => {
  it('a spent one takes the routes of its provider out of plans: the next provider serves, and it is no fallback', async () => {
    await budgets({});
    const first = await post('acme/two');
    expect([first.status, (await record(first)).provider]).toEqual([200, 'openai']);
    await atRest();
    const second = await record(await post('acme/two'));
    expect([second.provider, second.routing_fallback]).toEqual(['simulated', false]);
  });

  it('none left is 503 provider_not_available with Retry-After, and the answer names neither provider nor budget', async () => {
    const [{ id }] = await budgets({});
    expect((await post('acme/one')).status).toBe(200);
    await atRest();
    const refused = await post('acme/one');
    const text = await refused.text();
    expect([refused.status, Number(refused.headers.get('retry-after'))]).toEqual([503, expect.any(Number)]);
    expect(JSON.parse(text)).toMatchObject({ error: { code: 'provider_not_available' } });
    for (const word of ['openai', 'Secret name', id]) expect(text).not.toContain(word);
    // Nothing of the refused request stays counted on the key's account.
    await eventually(async () => (await edge.limits.read('acct_test', [])).reservedUnits === 0);
  });

  it('the minimum of several holds, each in its own period, and a disabled or soft one refuses nothing', async () => {
    const [, , soft] = await budgets(
      { amountUsd: '100', period: 'day', timeZone: 'UTC' },
      { period: 'rolling', rollingDays: 7, timeZone: null },
      { isHard: false, thresholdsPct: [50], amountUsd: '0.0001' },
    );
    const served = await post('acme/one');
    const { limits, budgets: told } = await record(served);
    expect(limits.filter(({ scope }) => scope === 'provider').map(({ scope_id }) => scope_id)).toEqual([
      expect.stringMatching(/^openai\/b:\d+-\d+\.\d+$/),
      expect.stringMatching(/^openai\/b:r7\.\d+$/),
    ]);
    expect(told).toMatchObject([{ budget_id: soft.id, scope: 'provider', scope_id: 'openai' }]);
    await atRest();
    expect((await post('acme/one')).status).toBe(503);
    await budgets({ isHard: false });
    expect((await post('acme/one')).status).toBe(200);
  });

  it('counts the list cost, whatever discount the customer has, and settles what the platform owes', async () => {
    const [budget] = await budgets({ amountUsd: '1000' });
    const discounted = testPrincipal('key_discount', {
      limits: [keyScope('key_discount', {})],
      discount: { pct: '100', models: null, providers: null },
    });
    const served = await edge.post(hello('acme/one'), { key: edge.addKey(discounted) });
    const { limits, ...unit } = (await edge.record(served)) as unknown as Recorded & Json;
    expect([unit.cost_usd, unit.list_cost_usd]).toEqual(['0', expect.stringMatching(/[1-9]/)]);
    await atRest();
    const [scope] = limits.filter(({ scope: kind }) => kind === 'provider');
    const { scopes } = await edge.limits.read(providerAccount('openai'), [
      { kind: 'provider', id: scope.scope_id },
    ]);
    expect([scope.scope_id, Number(scopes[0].unpostedNano) / 1e9]).toEqual([
      expect.stringContaining(`.${budget.countedFromMs}`),
      Number(unit.list_cost_usd),
    ]);
  });

  it('a raise lets requests in again while it lasts', async () => {
    const [budget] = await budgets({});
    expect((await post('acme/one')).status).toBe(200);
    await atRest();
    expect((await post('acme/one')).status).toBe(503);
    edge.pool.budgets[0] = { ...budget, raise: { byUsd: '1', untilMs: Date.now() + 600_000 } };
    await edge.app.app.get(PoolSync).sync();
    expect((await post('acme/one')).status).toBe(200);
  });

  it('of twenty requests at once the budget lets exactly one in: they are admitted one after the other', async () => {
    await budgets({ amountUsd: '0.000000001' });
    const answers = await Promise.all(Array.from({ length: 20 }, () => post('acme/one')));
    const statuses = answers.map(({ status }) => status);
    expect([statuses.filter((one) => one === 200).length, new Set(statuses)]).toEqual([
      1,
      new Set([200, 503]),
    ]);
  });

  it('asks in the one trip of admission: both calls are on their way before either is answered', async () => {
    await budgets({ amountUsd: '1000' });
    expect((await post('acme/one')).status).toBe(200);
    const { limits } = edge;
    const admit = limits.admit.bind(limits);
    const seen: string[] = [];
    limits.admit = async (request) => {
      const isWatch = request.accountId === 'acct_watch';
      if (!isWatch) seen.push(`asks ${request.accountId}`);
      await Promise.resolve();
      const answer = await admit(request);
      if (!isWatch) seen.push('answered');
      return answer;
    };
    try {
      expect((await post('acme/one')).status).toBe(200);
    } finally {
      limits.admit = admit;
    }
    expect(seen).toEqual([
      `asks ${providerAccount('openai')}`,
      'asks acct_test',
      ...Array.from({ length: 2 }, () => 'answered'),
    ]);
  });

  it('lets nothing to its provider while the ledger does not know yet what is spent there, and a soft one does', async () => {
    const { funds } = edge;
    const seed = funds.seedSpendLimit.bind(funds);
    funds.seedSpendLimit = (accountId, ...rest) =>
      accountId === providerAccount('openai')
        ? Promise.reject(new Error('is being summed'))
        : seed(accountId, ...rest);
    try {
      await budgets({ amountUsd: '1000' });
      const refused = await post('acme/one');
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
      expect((await record(await post('acme/two'))).provider).toBe('simulated');
      await budgets({ amountUsd: '1000', isHard: false });
      expect((await post('acme/one')).status).toBe(200);
    } finally {
      funds.seedSpendLimit = seed;
    }
    await budgets({ amountUsd: '1000' });
    expect((await post('acme/one')).status).toBe(200);
  });

  it('a budget of another provider asks the limit store nothing more', async () => {
    await budgets({ scopeId: 'anthropic' });
    const { limits } = await record(await post('acme/one'));
    expect(limits.some(({ scope }) => scope === 'provider')).toBe(false);
    expect((await edge.limits.read(providerAccount('anthropic'), [])).reservedUnits).toBe(0);
  });
});
