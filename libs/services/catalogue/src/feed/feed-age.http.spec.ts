import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { applyMigrations } from '@gateway/database';
import { Metrics, SystemClock } from '@gateway/platform';
import { eventually, repository, testDatabase, type TestDatabase } from '@gateway/testing';
import { parse } from 'yaml';
import { startCatalogue, type CatalogueApp } from '../catalogue-app.fixture.js';
import { SCHEMA, SCHEMA_DIR } from '../postgres/catalogue-database.js';
import { readSeed } from '../seed/read-seed.js';
import { publicKeyText, sealEnvelope } from '../signed/envelope.js';
import { payloadOf } from './feed-payload.js';

const DAY_MS = 86_400_000;
/** Newer than the data of any release. */
const VERSION = 203_001_010_000;
const RULES = 'deploy/alerts/model-gateway.rules.yaml';

/** The machine's clock, some days ahead. */
class AheadClock extends SystemClock {
  constructor(private readonly days: number) {
    super();
  }

  override now(): number {
    return super.now() + this.days * DAY_MS;
  }
}

interface Rule {
  alert: string;
  expr: string;
}

/** Metric and bound of the rule, whose form is `min(metric) > seconds * seconds`. */
function ruleOf(alert: string): { metric: string; bound: number } {
  const { groups } = parse(readFileSync(join(repository, RULES), 'utf8')) as { groups: { rules: Rule[] }[] };
  const rule = groups.flatMap(({ rules }) => rules).find((one) => one.alert === alert);
  const [, metric, days, seconds] = /^min\((\w+)\) > (\d+) \* (\d+)$/.exec(rule?.expr ?? '') ?? [];
  return { metric, bound: Number(days) * Number(seconds) };
}

describe('the age of the feed', () => {
  const signer = generateKeyPairSync('ed25519').privateKey;
  const { metric, bound } = ruleOf('CatalogueFeedStale');
  let folder: string;
  let file: string;
  let database: TestDatabase;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'feed-age-'));
    file = join(folder, 'catalogue.json');
    const document = payloadOf(readSeed({ simulated: false }), {
      version: VERSION,
      createdAt: '2026-11-28T00:00:00Z',
    });
    const pem = signer.export({ format: 'pem', type: 'pkcs8' }).toString();
    writeFileSync(file, sealEnvelope(Buffer.from(JSON.stringify(document)), { pem, keyid: 'ours' }));
    database = await testDatabase({
      schemaDir: SCHEMA_DIR,
      migrate: (url) => applyMigrations({ url, schemaDir: SCHEMA_DIR, schema: SCHEMA }),
    });
  });
  afterAll(async () => {
    await database?.drop();
    rmSync(folder, { recursive: true });
  });

  /** Starts the service some days later. */
  const startedAfter = (days: number): Promise<CatalogueApp> =>
    startCatalogue(
      {
        ...{ CATALOGUE_DATABASE_URL: database.url, SIMULATED_PROVIDER: 'true', CATALOGUE_FEED_SECONDS: '10' },
        CATALOGUE_FEED_URL: pathToFileURL(file).href,
        CATALOGUE_FEED_KEYS: `ours=${publicKeyText(signer)}`,
      },
      new AheadClock(days),
    );
  const valueOf = async (name: string, of: CatalogueApp): Promise<number> => {
    const text = await of.app.get(Metrics, { strict: false }).scrape();
    return Number(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'm').exec(text)?.[1]);
  };

  it('issue 37 passes the bound of CatalogueFeedStale after seven days without a readable document, also over a new start', async () => {
    const first = await startedAfter(0);
    await eventually(async () => (await valueOf('gateway_catalogue_feed_version', first)) === VERSION);
    expect(await valueOf(metric, first)).toBeLessThan(bound);
    await first.close();
    rmSync(file);

    for (const [days, isStale] of [
      [6.9, false],
      [7.1, true],
    ] as const) {
      const later = await startedAfter(days);
      await eventually(async () => (await valueOf('gateway_catalogue_feed_version', later)) === VERSION);
      expect((await valueOf(metric, later)) > bound).toBe(isStale);
      await later.close();
    }
  });
});
