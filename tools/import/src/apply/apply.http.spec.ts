import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startAllInOne } from '@gateway/testing';
import { emptyPlan, type Plan } from '../plan.js';
import { Refused, type Gateway } from './api.js';
import { PlanApplier } from './apply-plan.js';
import { MadeRecords } from './made-records.js';

const START_MS = 900_000;

let gateway: Awaited<ReturnType<typeof startAllInOne>>;
let token: string;
let folder: string;
let made = 0;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'import-apply-'));
  gateway = await startAllInOne({ env: { BILLING: 'off' } });
  token = String((await call('POST', '/auth/login', gateway.admin)).token);
}, START_MS);
afterAll(async () => {
  await gateway?.stop();
  rmSync(folder, { recursive: true });
});

type Json = Record<string, unknown>;

async function call(method: string, path: string, body?: object, as = token): Promise<Json> {
  const answer = await fetch(`${gateway.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${as}`, 'content-type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  return (await answer.json()) as Json;
}

/** A plan whose old ids no other test has. */
function plan(): Plan {
  made += 1;
  const of = (name: string): string => `${name}-${made}`;
  const limits = { rpm_limit: null, tpm_limit: null, allowed_models: null, spend_cap_usd: null };
  const key = { ...limits, organization: of('o'), expires_at: null, request_tags: {}, masked: 'sk-...aaaa' };
  const budget = {
    organization: of('o'),
    amount_usd: '50',
    period: 'week' as const,
    is_hard: true,
    thresholds_pct: [],
  };
  return {
    ...emptyPlan('litellm'),
    organizations: [{ ...limits, old_id: of('o'), name: of('Research'), rpm_limit: 2_000 }],
    teams: [{ ...limits, old_id: of('t'), organization: of('o'), name: 'Search', tpm_limit: 100_000 }],
    routing: [{ old_id: 'routing-1', name: 'LiteLLM 1', routing_policy: { max_retries: 1 } }],
    keys: [
      {
        ...{ ...key, old_id: of('k1'), team: of('t'), label: '=search,"prod"', rpm_limit: 60 },
        ...{ allowed_models: ['simulator/chat'], routing: 'routing-1', is_suspended: false },
        request_tags: { prod: 'true' },
      },
      {
        ...key,
        old_id: of('k2'),
        team: null,
        label: 'off',
        spend_cap_usd: '25',
        routing: null,
        is_suspended: true,
      },
    ],
    budgets: [
      { ...budget, old_id: of('b1'), scope: 'org', of: of('o'), name: 'All' },
      { ...budget, old_id: of('b2'), scope: 'key', of: of('k1'), name: 'One' },
    ],
  };
}

/** Applies a plan in a folder; `fetch` may fail as a killed process does. */
async function apply(planned: Plan, place: string, ask: typeof fetch = fetch, env = {}): Promise<string[]> {
  const target: Gateway = { url: gateway.url, token, fetch: ask, wait: () => Promise.resolve() };
  const applier = new PlanApplier(target, new MadeRecords(place), planned, env);
  await applier.run();
  return applier.lines;
}

const place = (): string => mkdtempSync(join(folder, 'run-'));
const rowsOf = (at: string): string[] => readFileSync(join(at, 'keys.csv'), 'utf8').trimEnd().split('\n');

/** Returns what the gateway has of a plan. */
async function stateOf({ organizations: [{ name }] }: Plan) {
  const orgs = (await call('GET', `/v1/orgs?q=${name}`)).data as Json[];
  const exact = orgs.filter((one) => one.name === name);
  const [{ id: org }] = exact;
  const [teams, keys, budgets, templates] = await Promise.all(
    [
      `/v1/orgs/${String(org)}/teams`,
      `/v1/keys?org_id=${String(org)}`,
      `/v1/budgets?org_id=${String(org)}`,
      `/v1/routing-policy-templates?org_id=${String(org)}`,
    ].map(async (path) => (await call('GET', path)).data as Json[]),
  );
  return { orgs: exact, teams, keys, budgets, templates };
}

describe('a plan that is applied', () => {
  it('makes its records with their limits, and keys that work, in a table for the owner alone', async () => {
    const [planned, at] = [plan(), place()];
    expect(await apply(planned, at)).toEqual(['made: 1 organizations, 1 teams, 2 keys, 2 budgets']);
    const { orgs, teams, keys, budgets, templates } = await stateOf(planned);
    expect(orgs).toMatchObject([{ rpm_limit: 2_000 }]);
    expect(teams).toMatchObject([{ name: 'Search', tpm_limit: 100_000 }]);
    const [first] = keys.filter(({ label }) => label === '=search,"prod"');
    const allowed = { allowed_models: ['simulator/chat'], rpm_limit: 60, team_id: teams[0].id };
    expect(first).toMatchObject({
      ...{ ...allowed, request_tags: { prod: 'true' }, status: 'active' },
      routing_policy_template_id: templates[0].id,
    });
    expect(keys.find(({ label }) => label === 'off')).toMatchObject({
      spend_cap_usd: '25',
      status: 'suspended',
    });
    expect(
      budgets.map(({ scope, scope_id, amount_usd }) => [scope, scope_id, amount_usd]).toSorted(),
    ).toEqual([
      ['key', first?.id, '50'],
      ['org', orgs[0].id, '50'],
    ]);
    expect(statSync(join(at, 'keys.csv')).mode & 0o777).toBe(0o600);
    const [head, row] = rowsOf(at);
    expect(head).toBe('old alias,old masked,new id,new key');
    const [, secret] = /^"'=search,""prod""","sk-\.\.\.aaaa",key_[^,]+,(rsk_\S+)$/.exec(row) ?? [];
    const answer = await call(
      'POST',
      '/v1/chat/completions',
      { model: 'simulator/chat', messages: [{ role: 'user', content: 'Hi' }] },
      secret,
    );
    expect(answer).toMatchObject({ object: 'chat.completion' });
  });

  it('makes nothing twice, neither in its folder nor in another one within a day', async () => {
    const [planned, at] = [plan(), place()];
    await apply(planned, at);
    const before = await stateOf(planned);
    const rows = rowsOf(at);
    await apply(planned, at);
    expect([await stateOf(planned), rowsOf(at)]).toEqual([before, rows]);
    await apply(planned, place());
    const { orgs, teams, keys, budgets } = await stateOf(planned);
    expect([orgs, teams, keys, budgets].map((list) => list.length)).toEqual([1, 1, 2, 2]);
  });

  it('goes on after a kill between any two calls, before or after the answer, and each key has a secret that works', async () => {
    const kill = new Error('killed');
    /** Fetch that dies at a call. */
    const dying = (dies: number, isAnswered: boolean): typeof fetch => {
      let count = 0;
      return async (...asked) => {
        count += 1;
        if (count === dies && !isAnswered) throw kill;
        const answer = await fetch(...asked);
        if (count === dies) throw kill;
        return answer;
      };
    };
    let calls = 0;
    await apply(plan(), place(), (...asked) => {
      calls += 1;
      return fetch(...asked);
    });
    expect(calls).toBe(8);
    for (let dies = 1; dies <= calls; dies += 1)
      for (const isAnswered of [false, true]) {
        const [planned, at] = [plan(), place()];
        await expect(apply(planned, at, dying(dies, isAnswered))).rejects.toBe(kill);
        await apply(planned, at);
        const { orgs, teams, keys, budgets, templates } = await stateOf(planned);
        const counts = [orgs, teams, keys, budgets, templates].map((list) => list.length);
        expect([dies, isAnswered, ...counts]).toEqual([dies, isAnswered, 1, 1, 2, 2, 1]);
        const [, first, second, ...others] = rowsOf(at);
        expect([second, ...others]).toEqual([expect.stringContaining('"off"')]);
        const models = await call('GET', '/v1/models', undefined, first.split(',').at(-1));
        expect(models).toMatchObject([{ id: 'simulator/chat' }]);
      }
  });

  it('removes a row that a killed process has left half written', () => {
    const at = place();
    new MadeRecords(at).addSecret('a', 'b', 'key_1', 'rsk_1');
    writeFileSync(join(at, 'keys.csv'), '"c","d",key_2,rs', { flag: 'a' });
    expect(new MadeRecords(at).hasSecretOf('key_2')).toBe(false);
    expect(rowsOf(at)).toEqual(['old alias,old masked,new id,new key', '"a","b",key_1,rsk_1']);
  });

  it('says which call is refused, and which variable of a credential is not set', async () => {
    const planned = plan();
    planned.keys[0].allowed_models = ['nobody/nothing'];
    const credential = {
      provider: 'openai',
      label: 'X',
      variable: 'OTHER_KEY',
      allowed_models: ['openai/gpt-5.5'],
    };
    const failure: unknown = await apply({ ...planned, credentials: [credential] }, place()).catch(
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(Refused);
    expect(String(failure)).toMatch(/key k1-\d+: POST \/v1\/keys was answered 422: .*allowed_models/s);
    const without = { ...emptyPlan('litellm'), credentials: [credential] };
    expect((await apply(without, place()))[0]).toBe(
      'OTHER_KEY is not set: add that credential of openai by hand',
    );
  });
});
