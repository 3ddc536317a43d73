import { ApiError, HEADER } from '@gateway/contracts';
import { createHash } from 'node:crypto';
import { FLEET_TOKEN } from '../keys-app.fixture.js';
import { keys } from '../organizations.fixture.js';

const put = (account: string, body: object, as = keys.admin) =>
  keys.call('PUT', `/v1/admin/discounts/${account}`, { as, body });

describe('PUT /v1/admin/discounts/{account}', () => {
  it('PAY-08 gives an account its discount, which the principals of its keys carry at once', async () => {
    const owner = await keys.person();
    const { orgId, accountId } = await keys.org(owner);
    const key = await keys.call('POST', '/v1/keys', { as: owner, body: { org_id: orgId } });
    const digest = createHash('sha256').update(String(key.body.key)).digest('hex');
    const principal = async () => {
      const headers = { [HEADER.fleetToken.toLowerCase()]: FLEET_TOKEN };
      const body = { kind: 'key', digest };
      return (await keys.call('POST', '/internal/principals/resolve', { headers, body })).body as unknown as {
        discount?: object;
        accountVersion: number;
      };
    };
    const before = await principal();
    expect(before.discount).toBeUndefined();
    const discount = { pct: '12.5', models: ['acme/*'], providers: null };
    const { status, body } = await put(orgId, { pct: '12.5', models: ['acme/*'] });
    expect([status, body]).toEqual([200, { account_id: accountId, org_id: orgId, ...discount }]);
    const after = await principal();
    expect(after.discount).toEqual(discount);
    expect(after.accountVersion).toBeGreaterThan(before.accountVersion);
    expect((await put(accountId, { pct: '0' })).status).toBe(200);
    expect((await principal()).discount).toBeUndefined();
  });

  it('PAY-08 404 for a deleted organization’s account, by either id: nobody could spend by it', async () => {
    const owner = await keys.person();
    const { orgId, accountId } = await keys.org(owner);
    expect((await keys.call('DELETE', `/v1/orgs/${orgId}`, { as: owner })).status).toBeLessThan(300);
    for (const named of [orgId, accountId]) {
      const { status, body } = await put(named, { pct: '5' });
      expect([status, (body.error as { code: string }).code]).toEqual([404, 'not_found']);
    }
  });

  it('PAY-08 is the super admin’s alone, and takes percentages from 0 to 100', async () => {
    const owner = await keys.person();
    const { orgId } = await keys.org(owner);
    expect((await put(orgId, { pct: '5' }, owner)).status).toBe(403);
    expect((await put('org_unknown', { pct: '5' })).status).toBe(404);
    for (const pct of ['101', '100.1', '-1', '1e1', 101, -1, ''])
      expect((await put(orgId, { pct })).status).toBe(422);
    for (const pct of ['0', '100', '0.000000000001', 25])
      expect((await put(orgId, { pct })).status).toBe(200);
  });

  it('PAY-08 422 for a model or provider that nobody knows, 503 where nobody could say; what is stored stays', async () => {
    const { orgId } = await keys.org(await keys.person());
    const loc = ({ status, body }: Awaited<ReturnType<typeof put>>) => {
      const { code, details } = body.error as { code: string; details: { loc: unknown }[] };
      return [status, code, details[0].loc];
    };
    const known = { pct: '5', models: ['acme/fast', 'acme/*'], providers: ['openai'] };
    expect((await put(orgId, known)).status).toBe(200);
    for (const models of [
      ['acme/fast', 'nowhere/slow'],
      ['acme/fast', 'nowhere/slow', 'acme/*'],
    ])
      expect(loc(await put(orgId, { ...known, models }))).toEqual([
        422,
        'unprocessable_entity',
        ['models', 1],
      ]);
    expect(loc(await put(orgId, { ...known, providers: ['openai', 'nowhere'] }))).toEqual([
      422,
      'unprocessable_entity',
      ['providers', 1],
    ]);
    for (const models of [['fast'], ['*'], ['acme/f*'], ['ACME fast'], ['acme/fast', 'acme/fast']])
      expect(loc(await put(orgId, { ...known, models })).slice(0, 2)).toEqual([422, 'validation_error']);
    keys.names.failure = new ApiError('service_unavailable');
    expect((await put(orgId, { ...known, pct: '6' })).status).toBe(200);
    expect((await put(orgId, { ...known, models: ['acme/slow'] })).status).toBe(503);
    keys.names.failure = null;
  });
});
