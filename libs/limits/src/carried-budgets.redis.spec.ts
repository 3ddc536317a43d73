import { providerAccount, type AdmitRequest, type BudgetGrant, type KeyPrincipal } from '@gateway/contracts';
import {
  fixedClock,
  keyPrincipal,
  redisScripts,
  seededRandom,
  testRedis,
  type RedisScripts,
  type TestRedis,
} from '@gateway/testing';
import { unitScopes } from './admission.js';
import { admitRequest } from './admit-request.js';
import { budgetCounters } from './budget-counters.js';
import { budgetsOf, type Carried } from './carried-budgets.js';
import { keyScopeLimits } from './limit-rules.js';
import { RedisLimitStore } from './redis/redis-limit-store.js';
import type { ScriptPipe } from './redis/script-pipe.js';

const clock = fixedClock('2026-03-01T12:00:15.000Z');
const CARRIED: Carried = { tags: { project: 'a' }, endUserHash: 'hash_1' };
const grant = (scope: BudgetGrant['scope'], scopeId: string, amountUsd: string): BudgetGrant => ({
  ...{ id: `bud_${scope}`, name: 'One', scope, scopeId, amountUsd, raise: null },
  ...{ period: 'day', timeZone: 'UTC', countedFromMs: 0 },
});

let database: TestRedis;
let edges: RedisScripts[];

beforeAll(async () => {
  database = await testRedis();
  edges = [await redisScripts(database.url), await redisScripts(database.url)];
});
beforeEach(() => edges[0].client.flushdb());
afterAll(async () => {
  for (const edge of edges ?? []) edge.close();
  await database?.drop();
});

const storeOver = (pipe: ScriptPipe): RedisLimitStore =>
  new RedisLimitStore({ pipe, random: seededRandom(1), testNow: () => clock.now() });
const limits = [keyScopeLimits('key_1', { rpm: null, rpd: null, tpm: null, spendCapUsd: null })];

/** A request of 10 nano-USD that carries the tag and the end user. */
function asked(principal: KeyPrincipal, unit: string): AdmitRequest {
  const reservation = { requestedAtMs: clock.now(), nano: 10n, worstNano: 10n, tokens: 1 };
  const model = { id: 'acme/one', isFree: false };
  return admitRequest(principal, model, unit, reservation, budgetsOf(principal, CARRIED));
}

/** Tells the store that nothing is spent yet. */
async function open(store: RedisLimitStore, request: AdmitRequest, accountId = 'acct_1'): Promise<void> {
  const stale = await store.admit(request);
  const gen = stale.kind === 'stale' ? stale.gen : '';
  await store.stamp(accountId, 1, gen);
  const scopes = unitScopes(request).map((scope) => ({ ...scope, postedNano: 0n }));
  await store.mirror({ accountId, gen, version: 1, balanceNano: 1_000n, scopes, units: [] });
}

describe('admission under budgets, in Redis', () => {
  it.each([
    ['key', 'key_1'],
    ['tag', 'project=a'],
    ['end_user', 'hash_1'],
  ] as const)(
    'of many requests at two edges at once the one unit left of a budget of %s lets one through',
    async (scope, scopeId) => {
      const budgets = [grant(scope, scopeId, '0.00000001')];
      const principal = keyPrincipal({
        limits,
        ...(scope === 'key' ? { budgets } : { carriedBudgets: budgets }),
      });
      const stores = edges.map(({ pipe }) => storeOver(pipe));
      await open(stores[0], asked(principal, 'req_0/0'));
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, n) => stores[n % 2].admit(asked(principal, `req_${n}/0`))),
      );
      const kinds = results.map(({ kind }) => kind).toSorted();
      expect(kinds).toEqual(['ok', ...Array.from({ length: 19 }, () => 'refused')]);
    },
  );

  it('of many requests at two edges at once the one unit left of a budget of a provider lets one through, whoever asks', async () => {
    const [{ name, capNano = null }] = budgetCounters(
      [grant('provider', 'openai', '0.00000001')],
      clock.now(),
    );
    const scope = {
      kind: 'provider' as const,
      id: `openai/${name}`,
      rpm: null,
      rpd: null,
      tpm: null,
      capNano,
    };
    const ofProvider = (unit: string): AdmitRequest => ({
      ...asked(keyPrincipal({ limits }), unit),
      ...{ accountId: providerAccount('openai'), scopes: [scope], extra: [], creditLimitNano: null },
    });
    const stores = edges.map(({ pipe }) => storeOver(pipe));
    await open(stores[0], ofProvider('req_0/0'), providerAccount('openai'));
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, n) => stores[n % 2].admit(ofProvider(`req_${n}/0`))),
    );
    const kinds = results.map(({ kind }) => kind).toSorted();
    expect(kinds).toEqual(['ok', ...Array.from({ length: 19 }, () => 'refused')]);
  });

  it.each([
    ['no budget', {}],
    ['budgets that others carry', { carriedBudgets: [grant('tag', 'project=b', '1')] }],
    [
      'budgets of key, tag and end user',
      {
        budgets: [grant('key', 'key_1', '1')],
        carriedBudgets: [grant('tag', 'project=a', '1'), grant('end_user', 'hash_1', '1')],
      },
    ],
  ])('one admission under %s is one command to Redis', async (_, more) => {
    const pipe: ScriptPipe = edges[0].pipe;
    let commands = 0;
    const counted: ScriptPipe = {
      prepare: (script, keys, last) => pipe.prepare(script, keys, last),
      nodeOf: (key) => pipe.nodeOf(key),
      hashSlotOf: (key) => pipe.hashSlotOf(key),
      send(call, args, answered) {
        commands += 1;
        pipe.send(call, args, answered);
      },
    };
    const store = storeOver(counted);
    const principal = keyPrincipal({ limits, ...more });
    await open(store, asked(principal, 'req_0/0'));
    commands = 0;
    expect(await store.admit(asked(principal, 'req_1/0'))).toMatchObject({ kind: 'ok' });
    expect(commands).toBe(1);
  });
});
