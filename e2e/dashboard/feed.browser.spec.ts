import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { payloadOf, publicKeyText, readSeed, sealEnvelope } from '@gateway/catalogue';
import type { Locator, Page } from 'playwright-core';
import { startAllInOne } from '../harness/all-in-one.js';
import type { Gateway } from '../harness/gateway.js';
import { axeFaults, openSignedIn, type SignedIn } from './browser.js';

const START_MS = 900_000;
const TEST_MS = 900_000;
/** Newer than the data of any release. */
const VERSION = 203_001_010_000;
const EDITED = 'openai/gpt-5.5';
const NEW = 'openai/gpt-99';

interface Payload {
  models: { id: string; name: string; routes: { provider: string; price: Record<string, string> }[] }[];
}

describe('the pages of a feed and of edits', () => {
  const folder = mkdtempSync(join(tmpdir(), 'feed-pages-'));
  const file = join(folder, 'catalogue.json');
  const signer = generateKeyPairSync('ed25519').privateKey;
  let gateway: Gateway;
  let signedIn: SignedIn;
  let page: Page;
  let base: string;

  beforeAll(async () => {
    gateway = await startAllInOne({
      env: {
        ...{ CATALOGUE_FEED_URL: pathToFileURL(file).href, CATALOGUE_FEED_SECONDS: '0' },
        CATALOGUE_FEED_KEYS: `ours=${publicKeyText(signer)}`,
      },
    });
    signedIn = await openSignedIn(gateway);
    ({ page, base } = signedIn);
  }, START_MS);
  afterAll(async () => {
    const faults = await signedIn?.end();
    await gateway?.stop();
    rmSync(folder, { recursive: true, force: true });
    expect(faults).toEqual([]);
  }, START_MS);

  /** Writes the data of this release with one price that moves and one more model. */
  function writeFeed(prompt: string): void {
    const of = { version: VERSION, createdAt: '2026-11-28T00:00:00Z' };
    const made = payloadOf(readSeed({ simulated: false }), of) as Payload;
    const model = made.models.filter(({ id }) => id === EDITED)[0];
    made.models.push({ ...structuredClone(model), id: NEW, name: 'GPT-99' });
    for (const { provider, price } of model.routes)
      if (provider === 'openai') price.prompt_usd_per_1m = prompt;
    const pem = signer.export({ format: 'pem', type: 'pkcs8' }).toString();
    writeFileSync(file, sealEnvelope(Buffer.from(JSON.stringify(made)), { pem, keyid: 'ours' }));
  }

  /** Returns the row of a model on the page of all models. */
  async function rowOf(model: string): Promise<Locator> {
    await page.goto(`${base}/admin/catalogue/models?q=${encodeURIComponent(model)}`);
    const row = page.getByRole('row').filter({
      has: page.getByRole('button', { name: `Set the price of ${model} at openai`, exact: true }),
    });
    await row.waitFor();
    return row;
  }

  it(
    'issue 37 a price that is set stands while the feed moves it, shows that it has moved, and follows again',
    async () => {
      await (
        await rowOf(EDITED)
      )
        .getByRole('button', { name: `Set the price of ${EDITED} at openai` })
        .click();
      const form = page.getByRole('dialog', { name: `Price of ${EDITED} at openai` });
      const prompt = form.getByLabel('prompt per 1m', { exact: true });
      const dearer = (Number(await prompt.inputValue()) * 1.1).toFixed(3);
      await prompt.fill('4.44');
      await form.getByRole('button', { name: 'Save' }).click();
      await (await rowOf(EDITED)).getByText(/^openai: \$4\.44 \/ .*\(operator\)$/).waitFor();

      writeFeed(dearer);
      await page.goto(`${base}/admin/catalogue/feed`);
      await page.getByRole('button', { name: 'Read now' }).click();
      await page.getByText('2 models changed, 0 wait for you.').waitFor();
      expect(await axeFaults(page)).toEqual([]);

      await (await rowOf(NEW)).getByText(/^openai: .*\(feed\)$/).waitFor();
      const edited = await rowOf(EDITED);
      await edited.getByText(/^openai: \$4\.44 \/ .*\(operator\)$/).waitFor();
      await edited.getByText('has moved').waitFor();

      await page.goto(`${base}/admin/catalogue/edits?moved=yes`);
      await page.getByRole('button', { name: `Follow again: price of ${EDITED}` }).click();
      await page.getByText('No model has an edit.').waitFor();
      const following = await rowOf(EDITED);
      await following.getByText(new RegExp(String.raw`^openai: \$${dearer} / .*\(feed\)$`)).waitFor();
      expect(await following.getByText('has moved').count()).toBe(0);
    },
    TEST_MS,
  );
});
