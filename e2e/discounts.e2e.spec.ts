import { eventually } from '@gateway/testing';
import { START_MS } from './harness/modes.js';
import { SHARED_MODES, type OwnOrganization } from './harness/own-organization.js';
import { ask, pico, type Body } from './harness/requests.js';
import { logIn, type PersonSession } from './harness/session.js';

const MODEL = 'simulator/chat';
const chat = { model: MODEL, max_tokens: 5, messages: [{ role: 'user', content: 'What does this cost?' }] };

/**
 * Suite that follows a discount: granted by a super admin, shown by the catalogue, taken by the ledger and missing from
 * the balance.
 */
describe.each(SHARED_MODES)('a discount followed through the front door (%s)', (_name, start) => {
  let gateway: OwnOrganization;
  let root: PersonSession;
  let key: { id: string; key: string };

  beforeAll(async () => {
    gateway = await start();
    root = await logIn(gateway);
    key = await root.createKey('discounted', { rpm: 1_000 });
  }, START_MS);

  async function setDiscount(discount: object): Promise<void> {
    const answer = await root.call('PUT', `/v1/admin/discounts/${root.orgId}`, discount);
    expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)]);
  }

  async function balance(): Promise<bigint> {
    return pico(String((await ask(gateway, 'GET', '/v1/balance', { key: key.key })).body.balance_usd));
  }

  /** The price of one request as the ledger holds it, which is what the balance has lost. */
  async function charge(): Promise<bigint> {
    const before = await balance();
    const { status, requestId } = await ask(gateway, 'POST', '/v1/chat/completions', {
      key: key.key,
      body: chat,
    });
    expect(status).toBe(200);
    const event = await eventually(
      async () => {
        const { body } = await ask(gateway, 'POST', '/v1/usage/events', {
          key: key.key,
          body: { org_id: root.orgId, limit: 5 },
        });
        return (body.events as Body[]).find(({ request_id }) => request_id === requestId);
      },
      { timeoutMs: 60_000 },
    );
    const cost = pico(String(event.cost_usd));
    await eventually(async () => before - (await balance()) === cost, { timeoutMs: 60_000 });
    return cost;
  }

  async function pricing(version: string): Promise<Body> {
    const headers = { 'x-service-version': version };
    const { body } = await ask(gateway, 'GET', `/v1/models/${MODEL}`, { key: key.key, headers });
    return body.pricing as Body;
  }

  /** True where the catalogue shows this key a price that is lower by the discount. */
  async function isShown(share: bigint): Promise<boolean> {
    expect(await pricing('2026-08')).not.toHaveProperty('discounted');
    const { discounted, prompt_usd_per_1m: list } = await pricing('2026-09');
    if (discounted === undefined) return false;
    expect(pico(String(discounted.prompt_usd_per_1m)) * 100n).toBe(pico(String(list)) * share);
    return true;
  }

  it(
    'PAY-08 MOD-22 MOD-24 is in the catalogue under 2026-09 alone, and in the very next charge to the last decimal',
    async () => {
      const full = await charge();
      expect(full > 0n).toBe(true);
      expect(await isShown(100n)).toBe(false);
      await setDiscount({ pct: '25' });
      expect(await charge()).toBe((full * 75n) / 100n);
      expect(await isShown(75n)).toBe(true);
      for (const elsewhere of [{ models: ['openai/*'] }, { providers: ['openai'] }]) {
        await setDiscount({ pct: '25', ...elsewhere });
        expect(await charge()).toBe(full);
        expect(await isShown(75n)).toBe(false);
      }
      await setDiscount({ pct: '100', models: [MODEL] });
      expect(await charge()).toBe(0n);
      await setDiscount({ pct: '0' });
      expect(await charge()).toBe(full);
      expect(await isShown(100n)).toBe(false);
    },
    START_MS,
  );

  it(
    'MOD-26 ROUTE-03 bills a request over an own provider key without it',
    async () => {
      const body = { org_id: root.orgId, provider: 'simulated', credentials: { api_key: 'built-in' } };
      const made = (await (await root.call('POST', '/v1/provider-keys', body)).json()) as { id: string };
      const own = await charge();
      await setDiscount({ pct: '50' });
      expect(await charge()).toBe(own);
      await root.call('DELETE', `/v1/provider-keys/${made.id}`);
      await setDiscount({ pct: '0' });
    },
    START_MS,
  );
});
