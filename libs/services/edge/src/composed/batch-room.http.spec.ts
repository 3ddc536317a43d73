import {
  HOLD_UNIT,
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

/** Answers the first step of a batch of so many lines, with its call. */
async function uploaded(
  lines: number,
  keyId = 'key_test',
  model = 'simulator/anthropic',
): Promise<{ call: UpstreamBatchCall; answer: UpstreamBatch | null; status: number }> {
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
  return { call, ...(await stepOf(call)) };
}

async function stepOf(call: UpstreamBatchCall): Promise<{ answer: UpstreamBatch | null; status: number }> {
  const answer = await fetch(`${edge.url}/internal/infer/batch`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-fleet-token': TOKEN },
    body: JSON.stringify(call),
  });
  const { status } = answer;
  return { answer: status === 200 ? ((await answer.json()) as UpstreamBatch) : null, status };
}

/** Answers the kind of that step. */
async function upload(...of: Parameters<typeof uploaded>): Promise<string> {
  const { answer, status } = await uploaded(...of);
  return answer?.kind ?? String(status);
}

const scopeOf = ({ countedFromMs }: BudgetGrant): { kind: 'provider'; id: string } => ({
  kind: 'provider',
  id: `${PROVIDER}/b:r7.${countedFromMs}`,
});

/** Returns what is held on a budget, in nano-USD. */
async function heldOn(grant: BudgetGrant): Promise<bigint> {
  const { scopes } = await edge.limits.read(providerAccount(PROVIDER), [scopeOf(grant)]);
  return scopes[0].reservedNano;
}

describe('a batch that a provider would run, and its budget', () => {
  it('is given to the provider where all that its lines may cost is left, and holds that; else they run one by one', async () => {
    const ours = await budget('0.00055');
    expect(await upload(12)).toBe('none');
    expect(await heldOn(ours)).toBe(0n);
    expect(await upload(10)).toBe('at');
    expect(await heldOn(ours)).toBe(500_000n);
    expect(await upload(2)).toBe('none');
    expect(await upload(1)).toBe('at');
  });

  it('is not given to it beside one that began at another edge meanwhile', async () => {
    const ours = await budget('0.00055');
    const { limits } = edge;
    const put = limits.put.bind(limits);
    limits.put = async (units) => {
      const mine = units.find(({ action }) => action === 'renew');
      if (mine !== undefined) await put([{ ...mine, unit: `req_other/${HOLD_UNIT}` }]);
      await put(units);
    };
    try {
      expect(await upload(6)).toBe('none');
      expect(await heldOn(ours)).toBe(300_000n);
    } finally {
      limits.put = put;
    }
  });

  it('holds it for as long as it is looked at, also where it was lost, and not where no provider runs it', async () => {
    const ours = await budget('0.00055');
    const { call, answer } = await uploaded(10);
    if (answer?.kind !== 'at') throw new Error('no provider has it');
    const { state } = answer;
    await edge.limits.put([
      {
        ...{
          accountId: providerAccount(PROVIDER),
          unit: `${call.request_id}/${HOLD_UNIT}`,
          action: 'cancel',
        },
        ...{ scopes: [scopeOf(ours)], nano: 0n, tokens: 0, tokenEstimate: 0, minute: 0, leaseMs: 60_000 },
      },
    ]);
    expect(await heldOn(ours)).toBe(0n);
    expect((await stepOf({ ...call, step: 'create', state })).answer).toMatchObject({ kind: 'at' });
    expect(await heldOn(ours)).toBe(500_000n);
    expect((await stepOf({ ...call, step: 'look', state })).answer).toEqual({ kind: 'none' });
    expect(await heldOn(ours)).toBe(0n);
  });

  it('runs one by one where the budget is spent, or held by requests that run', async () => {
    const ours = await budget('0.0001');
    expect(await upload(1)).toBe('at');
    await edge.limits.put([
      {
        ...{ accountId: providerAccount(PROVIDER), unit: 'req_running/0', action: 'renew', nano: 100_000n },
        ...{ scopes: [scopeOf(ours)], tokens: 0, tokenEstimate: 0, minute: 0, leaseMs: 60_000 },
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
