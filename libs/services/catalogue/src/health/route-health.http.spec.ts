import {
  CatalogueReader,
  FIGURE_CLASSES,
  type ProviderHealth,
  type ProviderRecord,
  type RouteFigures,
} from '@gateway/contracts';
import { applyMigrations } from '@gateway/database';
import { RouteFigureCounts } from '@gateway/routing';
import {
  fixedClock,
  keyPrincipal,
  sessionPrincipal,
  testDatabase,
  type TestDatabase,
} from '@gateway/testing';
import { pino } from 'pino';
import { FLEET_TOKEN, startCatalogue, type CatalogueApp } from '../catalogue-app.fixture.js';
import { StoredCredentials } from '../availability/stored-credentials.js';
import { CatalogueDatabase, SCHEMA, SCHEMA_DIR } from '../postgres/catalogue-database.js';
import { StoredRouteHealth } from './stored-route-health.js';

let database: TestDatabase;
let app: CatalogueApp;
let key: string;

beforeAll(async () => {
  database = await testDatabase({
    schemaDir: SCHEMA_DIR,
    migrate: (url) => applyMigrations({ url, schemaDir: SCHEMA_DIR, schema: SCHEMA }),
  });
  app = await startCatalogue({ CATALOGUE_DATABASE_URL: database.url, SIMULATED_PROVIDER: 'true' });
  key = app.credentialOf(keyPrincipal());
  // Every read of the figures is this file's own.
  await app.app.get(StoredRouteHealth).stop();
});
afterAll(async () => {
  await app.close();
  await database.drop();
});
beforeEach(async () => {
  await app.app.get(CatalogueDatabase).pool.query('DELETE FROM route_health; DELETE FROM provider_state');
});

/** Builds an edge's report of so many answers after `ms`, each of 40 tokens a second, and so many failures. */
function seen(
  provider: string,
  ms: number,
  answers: number,
  faults = 0,
  model = 'simulator/dual',
): unknown[] {
  const counts = new RouteFigureCounts();
  const route = { provider, model };
  for (let n = 0; n < answers; n += 1)
    counts.see(route, { firstPieceMs: ms, tokensPerSecond: 40, isFault: false });
  for (let n = 0; n < faults; n += 1)
    counts.see(route, { firstPieceMs: null, tokensPerSecond: null, isFault: true });
  return counts.take();
}

const post = async (path: string, body: object, token = FLEET_TOKEN): Promise<number> =>
  (
    await fetch(`${app.url}/internal/catalogue/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-fleet-token': token },
      body: JSON.stringify(body),
    })
  ).status;
const report = (figures: unknown[], token?: string): Promise<number> => post('health', { figures }, token);
const reportStates = (edge: unknown, states: unknown[], token?: string): Promise<number> =>
  post('provider-states', { edge, states }, token);

async function shown(): Promise<Record<string, ProviderHealth>> {
  await app.app.get(StoredRouteHealth).refresh();
  const { body } = await app.get('/v1/models/simulator/dual/providers', key);
  return Object.fromEntries(
    (body.data as (ProviderHealth & { provider: string })[]).map(
      ({ provider, uptime_30m, latency_p50_ms, throughput_p50 }) => [
        provider,
        { uptime_30m, latency_p50_ms, throughput_p50 },
      ],
    ),
  );
}

/** A provider as a super admin sees it. */
async function listed(slug: string): Promise<ProviderRecord> {
  await app.app.get(StoredRouteHealth).refresh();
  const admin = app.credentialOf(sessionPrincipal({ isSuperAdmin: true }));
  const { status, body } = await app.get('/v1/admin/providers', admin);
  expect(status).toBe(200);
  return (body.data as ProviderRecord[]).find((provider) => provider.slug === slug) as ProviderRecord;
}

const nothing: ProviderHealth = { uptime_30m: null, latency_p50_ms: null, throughput_p50: null };
/** A class is a fifth of its value wide. */
const about = (value: number): unknown => ({
  asymmetricMatch: (found: number) => Math.abs(found / value - 1) < 0.2,
});

describe('the health of a model’s providers', () => {
  it('MOD-49 is what all edges have reported, and null where nobody has called', async () => {
    expect(await shown()).toEqual({ simulated: nothing, 'simulated-messages': nothing });
    expect(await report(seen('simulated', 100, 30, 10))).toBe(204);
    expect(await report(seen('simulated', 900, 50, 10))).toBe(204);
    expect(await shown()).toEqual({
      simulated: { uptime_30m: 0.8, latency_p50_ms: about(900), throughput_p50: about(40) },
      'simulated-messages': nothing,
    });
    expect(await report(seen('simulated-messages', 100, 0, 3))).toBe(204);
    expect((await shown())['simulated-messages']).toEqual({ ...nothing, uptime_30m: 0 });
  });

  it('MOD-49 of a provider is that of all its models together, for super admins', async () => {
    await report(seen('simulated', 100, 30, 10));
    await report(seen('simulated', 900, 50, 10, 'simulator/chat'));
    expect(await listed('simulated')).toMatchObject({
      uptime_30m: 0.8,
      latency_p50_ms: about(900),
      throughput_p50: about(40),
    });
    expect(await listed('simulated-messages')).toMatchObject(nothing);
    expect((await shown()).simulated.uptime_30m).toBe(0.75);
  });

  it('MOD-49 adds up reports that meet, and the slots of the last half hour alone', async () => {
    const both = [...seen('simulated', 100, 5), ...seen('simulated-messages', 100, 5)];
    const reports = Array.from({ length: 20 }, (_, n) => report(n % 2 === 0 ? both : both.toReversed()));
    expect(new Set(await Promise.all(reports))).toEqual(new Set([204]));
    const { pool } = app.app.get(CatalogueDatabase);
    const tries = async (): Promise<unknown[]> =>
      (
        await pool.query(`SELECT provider, sum(tries)::int AS tries, sum(latency[27])::int AS counted
          FROM route_health GROUP BY 1 ORDER BY 1`)
      ).rows;
    expect(await tries()).toEqual([
      { provider: 'simulated', tries: 100, counted: 100 },
      { provider: 'simulated-messages', tries: 100, counted: 100 },
    ]);
    await pool.query("UPDATE route_health SET slot = slot - interval '20 minutes'");
    await report(seen('simulated', 100, 0, 100));
    expect((await shown()).simulated.uptime_30m).toBe(0.5);
    await pool.query("UPDATE route_health SET slot = slot - interval '15 minutes'");
    expect((await shown()).simulated.uptime_30m).toBe(0);
    await pool.query("UPDATE route_health SET slot = slot - interval '30 minutes'");
    expect(await shown()).toEqual({ simulated: nothing, 'simulated-messages': nothing });
    expect(await tries()).toEqual([]);
  });

  it('is for services alone, and takes nothing that cannot be added', async () => {
    const [figures] = seen('simulated', 100, 1) as object[];
    expect(await report([figures], 'another token')).toBe(404);
    const bad: object[] = [
      { tries: -1 },
      { tries: 0.5 },
      { tries: 1e9 },
      { latency: [] },
      { latency: Array<number>(FIGURE_CLASSES + 1).fill(0) },
      { speed: Array<string>(FIGURE_CLASSES).fill('1') },
      { model: 7 },
      { model: 'a\0b' },
      { provider: '\ud800' },
      { tries: null },
      { tries: 1e308 },
      { tries: '1' },
      { tries: 0 },
      { faults: 2 },
      { latency: Array<number>(FIGURE_CLASSES).fill(1) },
      { speed: Array<number>(FIGURE_CLASSES).fill(-1) },
      { speed: Array<null>(FIGURE_CLASSES).fill(null) },
      { speed: { length: FIGURE_CLASSES } },
      { latency: Array<number>(100_000).fill(0) },
    ];
    for (const more of bad) expect([more, await report([{ ...figures, ...more }])]).toEqual([more, 422]);
    expect(await report(Array<object>(501).fill(figures))).toBe(422);
    for (const none of [null, [], 'x', [figures]]) expect(await report([none])).toBe(422);
    expect(await shown()).toEqual({ simulated: nothing, 'simulated-messages': nothing });
  });

  it('MOD-49 adds up what one report says twice', async () => {
    expect(await report([...seen('simulated', 100, 1), ...seen('simulated', 100, 2, 1)])).toBe(204);
    expect((await shown()).simulated).toMatchObject({ uptime_30m: 0.75, latency_p50_ms: about(100) });
  });

  it('MOD-49 passes over providers and models that the catalogue does not have together', async () => {
    const [figures] = seen('simulated', 100, 1) as object[];
    const others = [
      { provider: 'nobody' },
      { provider: 'openai' },
      { model: 'simulator/nothing' },
      { provider: 'simulated simulator/dual', model: 'x' },
    ];
    expect(await report(others.map((more) => ({ ...figures, ...more })))).toBe(204);
    expect(await report([{ ...figures, model: 'another' }, figures])).toBe(204);
    const { pool } = app.app.get(CatalogueDatabase);
    const { rows } = await pool.query('SELECT provider, model_id, tries FROM route_health');
    expect(rows).toEqual([{ provider: 'simulated', model_id: 'simulator/dual', tries: 1 }]);
  });

  it('MOD-49 goes on counting where one edge has reported more than a slot can hold', async () => {
    const database = app.app.get(CatalogueDatabase);
    // One slot, whenever this runs.
    const clock = fixedClock('2026-11-01T12:00:00Z');
    const reader = app.app.get(CatalogueReader);
    const health = new StoredRouteHealth(
      database,
      reader,
      app.app.get(StoredCredentials),
      clock,
      pino({ level: 'silent' }),
    );
    await health.report(seen('simulated', 100, 4, 1) as RouteFigures[]);
    await database.pool.query(`UPDATE route_health SET tries = 2000000000, faults = 1999999999,
      latency = array_replace(latency, 4, 2000000000)`);
    await health.report(seen('simulated', 100, 4, 3) as RouteFigures[]);
    const { rows } = await database.pool.query(
      'SELECT tries, faults, latency[27] AS counted FROM route_health',
    );
    expect(rows).toEqual([{ tries: 2_000_000_000, faults: 2_000_000_000, counted: 2_000_000_000 }]);
    await health.refresh();
    expect(health.of('simulated', 'simulator/dual')).toMatchObject({
      uptime_30m: 0,
      latency_p50_ms: about(100),
    });
  });
});

describe('the state of a provider', () => {
  const error = (at: string, http_status: number | null = 500): object => ({
    code: 'upstream_error',
    provider_code: 'internal_provider_error',
    http_status,
    at,
  });
  const state = (breaker: string, last_error: object | null = null, provider = 'simulated'): object => ({
    provider,
    breaker,
    last_error,
  });
  const shownState = async (slug = 'simulated'): Promise<unknown> => {
    const { breaker, last_error } = await listed(slug);
    return { breaker, last_error };
  };
  const older = error('2026-11-01T12:00:00.000Z');
  const newer = error('2026-11-01T12:00:01.000Z', null);

  it('issue 16 D11 is the worst breaker and the newest error that any edge reports, as each reported last', async () => {
    expect(await shownState()).toEqual({ breaker: null, last_error: null });
    expect(
      await reportStates('e1', [state('closed', newer), state('closed', null, 'simulated-messages')]),
    ).toBe(204);
    expect(await shownState()).toEqual({ breaker: 'closed', last_error: newer });
    expect(await shownState('simulated-messages')).toEqual({ breaker: 'closed', last_error: null });
    expect((await listed('simulated')).health).toBeNull();
    const asked = (health: string): object => ({ ...state('closed', newer), health });
    await reportStates('e3', [asked('failing')]);
    await reportStates('e1', [asked('ok')]);
    expect((await listed('simulated')).health).toBe('failing');
    await reportStates('e3', [asked('ok')]);
    expect((await listed('simulated')).health).toBe('ok');
    expect(await reportStates('e3', [asked('fine')])).toBe(422);
    for (const [breaker, worst] of [
      ['open', 'open'],
      ['half_open', 'half_open'],
      ['closed', 'closed'],
    ]) {
      expect(await reportStates('e2', [state(breaker, older)])).toBe(204);
      expect(await shownState()).toEqual({ breaker: worst, last_error: newer });
    }
  });

  it('issue 16 D11 is not known a minute after the last report; the error stays for a day', async () => {
    await reportStates('e1', [state('open', older)]);
    await reportStates('e2', [state('half_open')]);
    const { pool } = app.app.get(CatalogueDatabase);
    const age = (edge: string, by: string): Promise<unknown> =>
      pool.query('UPDATE provider_state SET reported_at = reported_at - $2::interval WHERE edge = $1', [
        edge,
        by,
      ]);
    await age('e1', '1 minute');
    expect(await shownState()).toEqual({ breaker: 'half_open', last_error: older });
    await age('e2', '1 minute');
    expect(await shownState()).toEqual({ breaker: null, last_error: older });
    await age('e1', '1 day');
    expect(await shownState()).toEqual({ breaker: null, last_error: null });
    const { rows } = await pool.query('SELECT edge FROM provider_state');
    expect(rows).toEqual([{ edge: 'e2' }]);
  });

  it('issue 16 D11 keeps the newest 256 edges of a provider, however often they start', async () => {
    const { pool } = app.app.get(CatalogueDatabase);
    await reportStates('e1', [state('closed', newer), state('closed', null, 'simulated-messages')]);
    await pool.query(
      `INSERT INTO provider_state SELECT provider, 'old_' || n, 'open', NULL, reported_at - n * interval '1 second'
       FROM provider_state, generate_series(1, 300) AS n WHERE provider <> 'simulated-messages'`,
    );
    expect(await shownState()).toEqual({ breaker: 'open', last_error: newer });
    const { rows } = await pool.query(
      'SELECT count(*)::int AS edges, min(reported_at) AS oldest, max(reported_at) AS newest FROM provider_state GROUP BY provider ORDER BY 1',
    );
    expect(rows.map(({ edges }: { edges: number }) => edges)).toEqual([1, 256]);
    expect(rows[1].newest.getTime() - rows[1].oldest.getTime()).toBe(255_000);
  });

  it('issue 16 D11 404 and 422: is for services alone, takes codes and no text, and passes over unknown providers', async () => {
    expect(await reportStates('e1', [state('open')], 'another token')).toBe(404);
    const bad: object[] = [
      { breaker: 'ajar' },
      { breaker: null },
      { provider: '' },
      { provider: 7 },
      { last_error: 'Incorrect API key provided: sk-1' },
      { last_error: { ...older, code: 'Incorrect API key' } },
      { last_error: { ...older, message: 'Incorrect API key' } },
      { last_error: { ...older, provider_code: '<b>' } },
      { last_error: { ...older, http_status: 7 } },
      { last_error: { ...older, at: 'yesterday, or so it is' } },
      { last_error: { ...older, at: '2026-02-31T12:00:00.000Z' } },
      { last_error: [older] },
    ];
    for (const more of bad)
      expect([more, await reportStates('e1', [{ ...state('open'), ...more }])]).toEqual([more, 422]);
    for (const edge of ['', 'x'.repeat(65), 'a b', 7, null])
      expect([edge, await reportStates(edge, [state('open')])]).toEqual([edge, 422]);
    expect(await reportStates('e1', [state('open'), state('closed')])).toBe(422);
    expect(await reportStates('e1', Array<object>(501).fill(state('open')))).toBe(422);
    for (const none of [null, [], 'x']) expect(await reportStates('e1', [none])).toBe(422);
    expect(await reportStates('e1', [state('open', older, 'nobody')])).toBe(204);
    const { rows } = await app.app.get(CatalogueDatabase).pool.query('SELECT * FROM provider_state');
    expect(rows).toEqual([]);
  });
});
