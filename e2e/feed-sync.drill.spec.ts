import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { payloadOf, publicKeyText, readSeed, sealEnvelope } from '@gateway/catalogue';
import { eventually } from '@gateway/testing';
import { startFleet, type Fleet } from './harness/fleet.js';
import { startLoad, type Load } from './harness/load.js';
import { START_MS } from './harness/modes.js';
import { ask } from './harness/requests.js';
import { logIn, type PersonSession } from './harness/session.js';
import { withoutRates } from './harness/without-rates.js';

/** Number of models that each document changes. */
const CHANGED = 300;
/** Number of documents; each is newer than the one before it. */
const SYNCS = Number(process.env.DRILL_SYNCS ?? '5');
/** Newer than the data of any release. */
const FIRST = 203_001_010_000;
/** Time on a quiet machine, as of every wait. */
const SEEN_MS = 5_000;
const TEST_MS = 600_000;

interface Payload {
  models: { id: string; context_length: number; routes: { price: Record<string, string> }[] }[];
}
type Model = Payload['models'][number];

/** A model of a provider that has a credential here: its price shows at the edges. */
const SHOWN = 'openai/gpt-5.4-nano';

describe('a feed that changes 300 models under load', () => {
  const folder = mkdtempSync(join(tmpdir(), 'feed-sync-'));
  const file = join(folder, 'catalogue.json');
  const signer = generateKeyPairSync('ed25519').privateKey;
  const pem = signer.export({ format: 'pem', type: 'pkcs8' }).toString();
  let fleet: Fleet;
  let person: PersonSession;
  let load: Load;
  let keyId: string;
  beforeAll(async () => {
    const all = {
      ...{ EDGE_REPLICAS: '2', OPENAI_API_KEY: 'sk-never-called' },
      ...{ CATALOGUE_FEED_URL: pathToFileURL(file).href, CATALOGUE_FEED_SECONDS: '0' },
      ...{ CATALOGUE_FEED_KEYS: `ours=${publicKeyText(signer)}`, CATALOGUE_FEED_POLICY: 'apply' },
    };
    fleet = await startFleet({ edges: 2, env: { all } });
    person = await logIn(fleet);
    const { id, key } = await person.createKey('a drill');
    keyId = id;
    await withoutRates(fleet, id);
    const lanes = fleet.edges.flatMap(({ url }) => [1, 2].map(() => ({ url, keys: [key] })));
    const body = { model: 'simulator/chat', messages: [{ role: 'user', content: 'Hello' }] };
    load = startLoad(lanes, body, 60);
    await load.more(100);
  }, START_MS);
  afterAll(async () => {
    await load?.stop();
    await fleet?.stop();
    rmSync(folder, { recursive: true, force: true });
  }, START_MS);

  /** Writes the data of this release with 300 models that differ from the document before it. Returns their ids. */
  const write = (n: number): string[] => {
    const of = { version: FIRST + n, createdAt: '2026-11-28T00:00:00Z' };
    const made = payloadOf(readSeed({ simulated: false }), of) as Payload;
    const shown = made.models.find(({ id }) => id === SHOWN) as Model;
    for (let more = made.models.length; more < CHANGED; more += 1)
      made.models.push({ ...structuredClone(shown), id: `openai/more-${String(more)}` });
    for (const model of made.models.slice(0, CHANGED)) model.context_length += n + 1;
    for (const { price } of shown.routes) {
      const prompt = 2_000 + 2 * (n + 1);
      Object.assign(price, { prompt_usd_per_1m: tenThousandths(prompt) });
      const half = tenThousandths(prompt / 2);
      Object.assign(price, { batch_prompt_usd_per_1m: half, flex_prompt_usd_per_1m: half });
    }
    writeFileSync(`${file}.new`, sealEnvelope(Buffer.from(JSON.stringify(made)), { pem, keyid: 'ours' }));
    renameSync(`${file}.new`, file);
    return made.models.slice(0, CHANGED).map(({ id }) => id);
  };
  const tenThousandths = (count: number): string => `0.${String(count).padStart(4, '0')}`;
  /** Returns the price of a request at one edge. */
  const priceAt = async (url: string): Promise<unknown> => {
    const body = { key_id: keyId, model: SHOWN, prompt_tokens: 1_000_000, max_tokens: 1 };
    const key = person.token;
    return (await ask({ url, key }, 'POST', '/v1/limits/simulate', { body })).body.price_usd as unknown;
  };

  it(
    'costs no request, and each edge has the new price within five seconds',
    async () => {
      const tookMs: number[] = [];
      for (let n = 0; n < SYNCS; n += 1) {
        const ids = write(n);
        const before = await Promise.all(fleet.edges.map(({ url }) => priceAt(url)));
        const answer = await person.call('POST', '/v1/admin/catalogue/sync', { force: true });
        const began = performance.now();
        const { status, applied } = (await answer.json()) as { status: string; applied: string[] };
        expect([answer.status, status]).toEqual([200, 'applied']);
        expect(ids.filter((id) => !applied.includes(id))).toEqual([]);
        for (const [at, { url }] of fleet.edges.entries())
          await eventually(async () => (await priceAt(url)) !== before[at], { timeoutMs: SEEN_MS });
        tookMs.push(performance.now() - began);
        await load.more(100);
      }
      expect(load.answers.filter(({ status }) => status !== 200)).toEqual([]);
      process.stdout.write(
        `feed-sync: edges had new prices after ${Math.max(...tookMs).toFixed(0)} ms at most\n`,
      );
    },
    TEST_MS,
  );
});
