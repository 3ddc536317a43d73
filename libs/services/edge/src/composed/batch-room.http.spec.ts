import {
  objectName,
  ObjectStore,
  providerAccount,
  type BudgetGrant,
  type UpstreamBatch,
  type UpstreamBatchCall,
} from '@gateway/contracts';
import { startEdge, testModel, testPrincipal, type EdgeUnderTest } from '../edge.fixture.js';
import { PoolSync } from '../upstream/pool-sync.js';

const TOKEN = 'fleet-token-of-the-edge-under-test';
const PROVIDER = 'simulated-messages';
/** Tokens of a line's answer, which cost 0.00005 USD. */
const TOKENS = 10;

let edge: EdgeUnderTest;
let made = 0;
beforeAll(async () => {
  edge = await startEdge();
  const of = (id: string, provider: string): ReturnType<typeof testModel> => {
    const route = { provider, upstreamModel: 'sim-claude', dialect: 'messages' };
    const model = testModel(id, [route], { supports_batching: true });
    Object.assign(model.routes[0].price, { batch_prompt_usd_per_1m: '0', batch_completion_usd_per_1m: '5' });
    return model;
  };
  edge.serveModels(of('simulator/anthropic', PROVIDER), of('simulator/own', 'anthropic'));
});
afterAll(() => edge.close());

/** Gives a provider this budget in place of those before, and lets the edge learn it. */
async function budget(amountUsd: string, change: Partial<BudgetGrant> = {}): Promise<BudgetGrant> {
  made += 1;
  const grant: BudgetGrant = {
    ...{ id: `bud_${made}`, name: 'Ours', scope: 'provider', scopeId: PROVIDER, amountUsd, raise: null },
    ...{ period: 'rolling', rollingDays: 7, timeZone: null, countedFromMs: made, ...change },
  };
  edge.pool.budgets.splice(0, Infinity, grant);
  await edge.app.app.get(PoolSync).sync();
  return grant;
}

/** Answers the kind of the first step of a batch of so many lines. */
async function upload(lines: number, keyId = 'key_test', model = 'simulator/anthropic'): Promise<string> {
  made += 1;
  const batch_id = `batch_01980000-0000-7000-8000-${String(made).padStart(12, '0')}`;
  const input = objectName('batches', 'acct_test', `${batch_id}.jsonl`);
  const body = { model, max_tokens: TOKENS, messages: [{ role: 'user', content: 'Hello' }] };
  const content = async function* (): AsyncGenerator<Uint8Array> {
    for (let line = 0; line < lines; line += 1)
      yield Buffer.from(`${JSON.stringify({ custom_id: String(line), body })}\n`);
  };
  await edge.app.app.get(ObjectStore).put(input, content(), { maxBytes: 1_048_576 });
  const call: UpstreamBatchCall = {
    ...{ key_id: keyId, account_id: 'acct_test', request_id: `req_${batch_id}`, endpoint: '/v1/messages' },
    ...{ batch_id, step: 'upload', state: null, input },
    lines: objectName('batches', 'acct_test', `${batch_id}-lines.jsonl`),
  };
  const answer = await fetch(`${edge.url}/internal/infer/batch`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-fleet-token': TOKEN },
    body: JSON.stringify(call),
  });
  return answer.status === 200 ? ((await answer.json()) as UpstreamBatch).kind : String(answer.status);
}

describe('a batch that a provider would run, and its budget', () => {
  it('is given to the provider where all that its lines may cost is left, else they run one by one; nothing is held', async () => {
    await budget('0.00055');
    expect(await upload(10)).toBe('at');
    expect(await upload(12)).toBe('none');
    expect(await upload(10)).toBe('at');
    const { reservedUnits } = await edge.limits.read(providerAccount(PROVIDER), []);
    expect(reservedUnits).toBe(0);
  });

  it('runs one by one where the budget is spent, or held by requests that run', async () => {
    const { countedFromMs } = await budget('0.0001');
    expect(await upload(1)).toBe('at');
    const scope = { kind: 'provider' as const, id: `${PROVIDER}/b:r7.${countedFromMs}` };
    await edge.limits.put([
      {
        ...{ accountId: providerAccount(PROVIDER), unit: 'req_running/0', action: 'renew', nano: 100_000n },
        ...{ scopes: [scope], tokens: 0, tokenEstimate: 0, minute: 0, leaseMs: 60_000 },
      },
    ]);
    expect(await upload(1)).toBe('none');
  });

  it('is kept by no soft budget, by none of another provider, and not on a customer’s key', async () => {
    const spent = '0.000000001';
    await budget(spent, { isHard: false });
    expect(await upload(3)).toBe('at');
    await budget(spent, { scopeId: 'openai' });
    expect(await upload(3)).toBe('at');
    await budget(spent, { scopeId: 'anthropic' });
    const own = { id: 'pk_batch', provider: 'anthropic', version: 1, allowedModels: null };
    edge.vault.credentials.set(own.id, { kind: 'api_key', key: 'sk-own-0123456789abcdefghijklmnop' });
    const providerKeys = [{ ...own, allowPlatformFallback: true }];
    edge.addKey(testPrincipal('key_own', { accountId: 'acct_test', providerKeys }));
    expect(await upload(3, 'key_own', 'simulator/own')).toBe('at');
  });

  it('is asked for again where the budget cannot be asked', async () => {
    await budget('1000');
    const { limits } = edge;
    const trial = limits.trial.bind(limits);
    limits.trial = () => Promise.reject(new Error('away'));
    try {
      expect(await upload(1)).toBe('503');
    } finally {
      limits.trial = trial;
    }
    expect(await upload(1)).toBe('at');
  });
});
