import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BudgetGrant } from '@gateway/contracts';
import type { TestDatabase } from '@gateway/testing';
import { migratedDatabase, startKeysApp, type Answer, type KeysApp } from '../keys-app.fixture.js';
import { DatabasePlatformCredentials } from '../platform-credentials/database-platform-credentials.js';
import { fileBudgetsOf } from './file-budgets.js';

const PATH = '/v1/admin/budgets';
const FILE = `budgets:
  - { scope: provider, scope_id: anthropic, amount_usd: "5000", period: month, time_zone: Europe/Zurich }
`;

let folder: string;
let database: TestDatabase;
let keys: KeysApp;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'budgets-'));
  database = await migratedDatabase();
  keys = await startKeysApp(database.url, { config: { GATEWAY_CONFIG: written(FILE) } });
});
afterAll(async () => {
  await keys?.close();
  await database?.drop();
  rmSync(folder, { recursive: true });
});
beforeEach(async () => {
  await keys.database.prisma.budget.deleteMany();
});

/** Returns the path of a gateway.yaml. */
function written(text: string): string {
  const path = join(folder, 'gateway.yaml');
  writeFileSync(path, text);
  return path;
}

const call = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<Answer> =>
  keys.call(method, path, { as: keys.admin, ...(body === undefined ? {} : { body }) });
const post = (more: object = {}): Promise<Answer> =>
  call('POST', PATH, {
    ...{ scope: 'provider', scope_id: 'openai', name: 'Ours', amount_usd: '10', period: 'month' },
    ...more,
  });
const codeOf = ({ status, body }: Answer): unknown[] => [
  status,
  (body.error as { code?: string } | undefined)?.code,
];
const known = async (): Promise<BudgetGrant[]> => {
  const pool = keys.app.get(DatabasePlatformCredentials, { strict: false });
  return [...(await pool.sync({ environment: [], states: [], uses: [] })).budgets];
};

describe('budgets of providers', () => {
  it('201 200 204 creates, reads, lists, changes, raises and deletes one, each with its audit row', async () => {
    keys.funds.calls = 0;
    const made = await post({ thresholds_pct: [80], time_zone: 'Asia/Kathmandu' });
    const { id, ...record } = made.body;
    expect([made.status, record]).toEqual([
      201,
      {
        ...{ org_id: null, scope: 'provider', scope_id: 'openai', name: 'Ours', amount_usd: '10' },
        ...{ period: 'month', time_zone: 'Asia/Kathmandu', rolling_days: null, raise: null },
        ...{ effective_amount_usd: '10', is_hard: true, thresholds_pct: [80], is_enabled: true },
        ...{ spent_usd: '0', held_usd: '0' },
        ...{ period_start: expect.stringContaining('T18:15:00.000Z'), period_end: expect.any(String) },
        ...{ created_at: expect.any(String), updated_at: expect.any(String) },
      },
    ]);
    const path = `${PATH}/${String(id)}`;
    const until = new Date(Date.now() + 60_000).toISOString();
    expect((await call('GET', path)).body).toEqual(made.body);
    expect((await call('PATCH', path, { amount_usd: '20' })).body.amount_usd).toBe('20');
    expect((await call('POST', `${path}/raise`, { by_usd: '5', until })).body.effective_amount_usd).toBe(
      '25',
    );
    expect((await call('DELETE', `${path}/raise`)).body.raise).toBeNull();
    expect((await call('GET', `${PATH}?scope_id=openai`)).body).toMatchObject({ total: 1 });
    expect(await known()).toMatchObject([{ scopeId: 'anthropic' }, { id, amountUsd: '20' }]);
    expect((await call('DELETE', path)).status).toBe(204);
    expect(codeOf(await call('GET', path))).toEqual([404, 'not_found']);
    const rows = await keys.database.prisma.auditLog.findMany({
      where: { target_id: String(id) },
      orderBy: { id: 'asc' },
    });
    expect(rows.map(({ action, org_id }) => [action, org_id])).toEqual(
      ['create', 'update', 'raise', 'raise', 'delete'].map((action) => [`budget.${action}`, null]),
    );
  });

  it('those of gateway.yaml come first, are the same after a restart, and cannot be changed', async () => {
    await post();
    const { data } = (await call('GET', PATH)).body as { data: { id: string }[] };
    expect(data).toMatchObject([
      { id: 'bud_file_anthropic_1', scope_id: 'anthropic', amount_usd: '5000', time_zone: 'Europe/Zurich' },
      { scope_id: 'openai' },
    ]);
    for (const method of ['PATCH', 'DELETE'] as const)
      expect(codeOf(await call(method, `${PATH}/bud_file_anthropic_1`, {}))).toEqual([409, 'conflict']);
    expect((await known())[0].countedFromMs).toBe(0);
  });

  it('a disabled one is no business of an edge, and no organization reaches one', async () => {
    const { id } = (await post({ is_enabled: false })).body;
    expect((await known()).map(({ scopeId }) => scopeId)).toEqual(['anthropic']);
    const owner = await keys.person();
    await keys.org(owner);
    expect((await keys.call('GET', `/v1/budgets/${String(id)}`, { as: owner })).status).toBe(404);
    expect((await keys.call('GET', `${PATH}/${String(id)}`, { as: owner })).status).toBe(403);
    expect((await keys.call('GET', '/v1/budgets', { as: owner })).body.total).toBe(0);
  });

  it('409 for the fifth of a provider, 422 for an unknown provider and another scope', async () => {
    for (let at = 0; at < 4; at += 1) expect((await post()).status).toBe(201);
    expect(codeOf(await post())).toEqual([409, 'conflict']);
    expect(codeOf(await post({ scope_id: 'nobody' }))).toEqual([422, 'unprocessable_entity']);
    for (const wrong of [{ scope: 'org' }, { org_id: 'org_1' }, { amount_usd: '0' }, { time_zone: 'Mars/A' }])
      expect(codeOf(await post({ scope_id: 'anthropic', ...wrong }))).toEqual([422, 'validation_error']);
  });

  it.each([
    [
      'a zone that is none',
      '{ scope: provider, scope_id: openai, amount_usd: "1", period: day, time_zone: X }',
    ],
    ['an amount of nothing', '{ scope: provider, scope_id: openai, amount_usd: "0", period: day }'],
    ['rolling without days', '{ scope: provider, scope_id: openai, amount_usd: "1", period: rolling }'],
  ])('the start is refused for %s in gateway.yaml, with its line', (_what, entry) => {
    const path = written(`budgets:\n  - ${entry}\n`);
    expect(() => fileBudgetsOf({ GATEWAY_CONFIG: path })).toThrow(/line 2: budgets\[0\]/);
  });
});
