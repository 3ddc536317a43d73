import { testPostgres, type TestDatabase } from '@gateway/testing';
import { makeLiteLlmTables } from '../litellm-tables.fixture.js';
import { Accounts } from './accounts.js';
import { NotReadable } from './config-file.js';
import { readRows } from './database.js';
import { readLiteLlm } from './read-litellm.js';
import { ReleaseData } from './release.js';

const CONFIG = `
model_list:
  - { model_name: gpt, litellm_params: { model: openai/gpt-5.5 } }
  - { model_name: claude, litellm_params: { model: anthropic/claude-opus-5 } }
router_settings: { num_retries: 1, fallbacks: [{ gpt: [claude] }] }
`;
const release = new ReleaseData();

let database: TestDatabase;
beforeAll(async () => {
  database = await testPostgres();
  await makeLiteLlmTables(database.url);
});
afterAll(() => database.drop());

async function read() {
  const { draft, groups, router } = readLiteLlm({ text: CONFIG, name: 'config.yaml' }, release, {});
  const rows = await readRows(database.url);
  const now = new Date('2026-11-29T00:00:00Z');
  new Accounts(rows, { groups, router, release }, draft.plan, draft.notes, now).read();
  return draft;
}

describe('a database of LiteLLM', () => {
  it('gives organizations, teams and keys with their limits, models by our ids, tags and times', async () => {
    const { plan } = await read();
    const none = { rpm_limit: null, tpm_limit: null, allowed_models: null, spend_cap_usd: null };
    expect(plan.organizations).toEqual([
      { ...none, old_id: 'o-1', name: 'Research', rpm_limit: 900 },
      { ...none, old_id: 'litellm', name: 'LiteLLM' },
    ]);
    const gpt = { allowed_models: ['openai/gpt-5.5'] };
    expect(plan.teams).toEqual([
      { ...none, ...gpt, old_id: 't-1', organization: 'o-1', name: 'Search', tpm_limit: 100_000 },
      { ...none, old_id: 't-2', organization: 'litellm', name: 'Closed', spend_cap_usd: '10' },
    ]);
    const key = { ...none, team: null, expires_at: null, request_tags: {}, is_suspended: false };
    expect(plan.keys).toEqual([
      {
        ...{ ...key, ...gpt, old_id: 'hash-1', organization: 'o-1', team: 't-1', label: 'search-prod' },
        ...{ masked: 'sk-...aaaa', rpm_limit: 60, routing: 'routing-1' },
        request_tags: { prod: 'true', squad: 'search' },
        expires_at: '2099-01-01T00:00:00.000Z',
      },
      {
        ...{ ...key, old_id: 'hash-2', organization: 'litellm', label: 'free', masked: 'sk-...bbbb' },
        ...{ spend_cap_usd: '25', routing: 'routing-1', is_suspended: true },
      },
      {
        ...{ ...key, old_id: 'hash-4', organization: 'litellm', team: 't-2', label: 'sk-...dddd' },
        // A list of unknown names opens nothing.
        ...{ masked: 'sk-...dddd', allowed_models: [], routing: 'routing-2', is_suspended: true },
      },
    ]);
    expect(plan.routing.map(({ routing_policy }) => routing_policy)).toEqual([
      { max_retries: 1, fallback_models: ['anthropic/claude-opus-5'] },
      { max_retries: 1 },
    ]);
  });

  it('gives budgets of calendar periods and of the last days exactly, shared ones too, and caps where there is no period', async () => {
    const { plan } = await read();
    expect(
      plan.budgets.map(({ of, amount_usd, period, rolling_days: days, is_hard: isHard }) =>
        days === undefined ? [of, amount_usd, period, isHard] : [of, amount_usd, period, days, isHard],
      ),
    ).toEqual([
      ['o-1', '800', 'month', false],
      ['o-1', '1000.1', 'month', true],
      ['t-1', '50', 'week', true],
      ['hash-1', '0.000001', 'day', true],
      ['hash-4', '3', 'rolling', 90, true],
    ]);
  });

  it('says what has no counterpart, row by row, and never shows a password', async () => {
    const draft = await read();
    expect(draft.notes.map(({ place, words }) => `${place}: ${words}`)).toEqual([
      'budget of team Closed: it has no period: the cap of 10 USD counts 30 days here',
      'LiteLLM_TeamTable t-2: a blocked team has no counterpart: its keys are suspended',
      'key free (sk-...bbbb): aliases: names of models for one key have no counterpart: make aliases of the organization',
      'key gone (sk-...cccc): it has expired and is not made again',
      'key sk-...dddd (sk-...dddd): it names nothing-known, which is no model of the configuration',
      'user ada@lab.example: invite them and give the member a budget',
      'LiteLLM_UserTable: 1 people: invite them to their organizations',
      'LiteLLM_TagTable: 1 rows: budgets of tags have no counterpart yet',
      'keys: each has a new secret, and its spend begins at 0: what was spent before is not carried over',
    ]);
    expect(JSON.stringify(draft)).not.toContain('planted-password');
  });

  it('is found in the schema that Prisma’s address names', async () => {
    await makeLiteLlmTables(database.url, 'other');
    const rows = await readRows(`${database.url}?schema=other&connection_limit=3`);
    expect(rows.keys).toHaveLength(4);
  });

  it.each([
    ['another database', () => `${database.url}?schema=empty`],
    ['an address that is none', () => 'mysql://secret@host/db'],
    ['a server that is away', () => 'postgresql://user:planted@127.0.0.1:1/db'],
  ])('is refused without its address where it is %s', async (_what, address) => {
    const failure: unknown = await readRows(address()).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(NotReadable);
    expect(String(failure)).not.toMatch(/planted|secret/);
  });
});
