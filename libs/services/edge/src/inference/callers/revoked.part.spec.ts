import { Inference, type KeyPrincipal } from '@gateway/contracts';
import { eventually } from '@gateway/testing';
import { hello, testModel, testPrincipal, type Json } from '../../edge.fixture.js';
import { tenantOf } from '../../tenant.fixture.js';
import { framesOf, StreamReader } from '../stream-reader.fixture.js';
import { started } from './callers.fixture.js';

const edge = tenantOf(started, 'revoked');

/** A key of an account of its own; `change` acts as the keys service does: the record first, then the account's version. */
function ownKey(name: string): { key: string; change: (to: Partial<KeyPrincipal>) => Promise<void> } {
  const account = { accountId: `acct_revoked_${name}`, accountVersion: 1 };
  const principal = { ...testPrincipal(`key_${name}`), ...account, orgId: `org_revoked_${name}` };
  const key = edge.addKey(principal);
  return {
    key,
    change: async (to) => {
      edge.principals.add(key, { ...principal, ...to, accountVersion: 2 });
      await edge.limits.stamp(account.accountId, 2, null);
    },
  };
}

const SUSPENDED = { status: 'suspended' as const };
const ROADS: [path: string, upstream: string, body: Json, code?: string][] = [
  ['/v1/chat/completions', 'sim-chat', {}],
  ['/v1/messages', 'sim-claude', {}],
  [
    '/v1/responses',
    'sim-chat',
    { messages: undefined, max_tokens: undefined, input: 'Hello there', store: false },
    // Its format has two codes.
    'server_error',
  ],
];

describe('A2 a key that is suspended or deleted while its requests run', () => {
  it.each(ROADS)(
    'ends an open stream of %s in its own format, billed by what was sent',
    async (path, upstream, more, code = 'invalid_api_key') => {
      const { key, change } = ownKey(`open_${upstream}_${path.length}`);
      const model = edge.serve('revoked/endless', `${upstream}:endless;delay=20`);
      const before = edge.shipped().length;
      const response = await edge.post(hello(model, { stream: true, ...more }), { path, key });
      const reader = new StreamReader(response);
      await reader.until((text) => text.includes('delta'));
      await change(SUSPENDED);
      const last = framesOf(await reader.rest()).at(-1)?.data as Json;
      const error = (last.error ?? (last.response as Json).error) as Json;
      expect(error.code).toBe(code);
      expect(String(error.message)).toContain('suspended or deleted');
      await eventually(() => edge.upstream().at(-1)?.state === 'aborted');
      await eventually(() => edge.shipped().length > before);
      const [record] = edge.shipped().slice(before);
      expect(record).toMatchObject({ outcome: 'cancelled', http_status: 200, error_code: 'invalid_api_key' });
      expect(Number(record.cost_usd)).toBeGreaterThan(0);
      expect((record.usage as Record<string, number>).completion_tokens).toBeGreaterThan(0);
    },
  );

  it('answers a request that was not answered yet with the rejection of the next one', async () => {
    const { key, change } = ownKey('plain');
    const model = edge.serve('revoked/slow', 'sim-chat:latency=600000');
    edge.sim.reset();
    const asked = edge.post(hello(model), { key });
    await eventually(() => edge.upstream().length === 1);
    await change(SUSPENDED);
    const refused = await asked;
    expect(refused.status).toBe(403);
    expect(await refused.json()).toMatchObject({
      error: { code: 'forbidden', message: 'The key is suspended.' },
    });
  });

  it('goes on where the account changes in another way', async () => {
    const { key, change } = ownKey('changed');
    const model = edge.serve('revoked/long', `sim-chat:text=${'word '.repeat(300)};delay=20`);
    const response = await edge.post(hello(model, { stream: true, max_tokens: 1_000 }), { key });
    const reader = new StreamReader(response);
    await reader.until((text) => text.includes('delta'));
    await change({ requestTags: { changed: 'yes' } });
    expect(await reader.rest()).toContain('[DONE]');
    expect(edge.principals.reloads).toBeGreaterThan(0);
  });

  it('fails a response that runs in the background', async () => {
    const { key, change } = ownKey('background');
    const flag = { supports_background_response: true };
    const route = { provider: 'simulated', upstreamModel: 'sim-chat:endless;delay=20' };
    edge.serveModels(testModel('revoked/background', [route], flag));
    const body = { model: 'revoked/background', input: 'Hello', background: true };
    const { id } = (await (await edge.post(body, { path: '/v1/responses', key })).json()) as { id: string };
    const begun = edge.background.begun.find((one) => one.id === id);
    if (begun === undefined) throw new Error('nothing was begun');
    const { key_id, account_id, request_id } = begun;
    const run = edge.app.app.get(Inference).infer({
      ...{ key_id, account_id, request_id, unit: 0, body: begun.body, is_batch: false },
      ...{ recorded_path: '/v1/responses', endpoint: '/v1/responses', background: { response_id: id } },
    });
    await eventually(() => (edge.background.said.get(id)?.length ?? 0) > 3);
    await change(SUSPENDED);
    await run;
    const last = edge.background.said.get(id)?.at(-1)?.event;
    expect(last).toMatchObject({
      type: 'response.failed',
      response: { error: { message: expect.stringContaining('suspended or deleted') } },
    });
  });
});
