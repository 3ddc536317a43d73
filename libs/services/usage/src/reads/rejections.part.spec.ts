import { rejectionRecord } from '@gateway/testing';
import { mintSecret, SystemRandom } from '@gateway/platform';
import { limitedKey } from '../usage.fixture.js';
import { app, reads } from './all-reads.fixture.js';

const DAY_MS = 86_400_000;
const secret = mintSecret('rsk_', new SystemRandom());

function prepare(): void {
  app.principals.add(secret, limitedKey());
}

describe('POST /v1/usage/rejections', () => {
  beforeAll(prepare);
  beforeEach(() => reads.clear());

  it('READ-38 READ-39 READ-51 lists refusals of the last 90 days by their filters', async () => {
    const record = rejectionRecord();
    const old = new Date(Date.now() - 91 * DAY_MS).toISOString();
    await app.post(
      record,
      rejectionRecord({ code: 'model_not_found', http_status: 404 }),
      rejectionRecord({ created_at: old }),
    );
    const { body } = await app.call('POST', '/v1/usage/rejections', secret, {
      code: ['rate_limit_exceeded'],
    });
    expect(body).toMatchObject({ total: 1, limit: 50, offset: 0 });
    const served = await app.call('POST', '/v1/usage/rejections', secret, { outcome: ['served', 'failed'] });
    expect(served.body).toMatchObject({ total: 0, rejections: [] });
    expect(body.rejections).toEqual([
      {
        request_id: record.request_id,
        created_at: record.created_at,
        endpoint: '/v1/chat/completions',
        model: 'acme/swift',
        status: 429,
        code: 'rate_limit_exceeded',
        message: 'Too many requests.',
        scope: 'key',
        scope_id: 'key_1',
        team_id: null,
        key_id: 'key_1',
        limit_type: 'rpm',
        money: null,
        budget_id: null,
        count: 1,
      },
    ]);
  });

  it('READ-38 finds the refusal of one request by its id, in the caller’s view alone', async () => {
    const record = rejectionRecord();
    const others = rejectionRecord({ account_id: 'acct_other', org_id: 'org_other', key_id: 'key_other' });
    await app.post(record, rejectionRecord(), others);
    const found = async (request_id: string | null): Promise<string[]> =>
      (await app.call('POST', '/v1/usage/rejections', secret, { request_id })).body.rejections.map(
        (row: { request_id: string }) => row.request_id,
      );
    expect(await found(record.request_id)).toEqual([record.request_id]);
    expect(await found(others.request_id)).toEqual([]);
    expect(await found('')).toEqual([]);
    expect(await found(null)).toHaveLength(2);
  });

  it('READ-38 names the budget that refused', async () => {
    const refused = { code: 'spend_limit_exceeded', http_status: 402, limit_type: 'spend_cap' };
    await app.post(rejectionRecord({ ...refused, scope: 'team', scope_id: 'team_1', budget_id: 'bud_1' }));
    const { body } = await app.call('POST', '/v1/usage/rejections', secret, {});
    expect(body.rejections).toMatchObject([{ scope: 'team', scope_id: 'team_1', budget_id: 'bud_1' }]);
  });

  it('READ-38 says what a refusal for money rested on, and names people by their own id', async () => {
    const money = {
      ...{ limit_usd: '1', spent_usd: '0.31', available_usd: '0.69', held_usd: '0.7' },
      is_final: false,
    };
    await app.post(
      rejectionRecord({
        ...{ code: 'spend_limit_exceeded', http_status: 402, limit_type: 'spend_cap', money },
        ...{ scope: 'team_member', scope_id: 'team_1/usr_1' },
      }),
    );
    const { body } = await app.call('POST', '/v1/usage/rejections', secret, {});
    expect(body.rejections).toMatchObject([
      { scope: 'team_member', scope_id: 'usr_1', team_id: 'team_1', money },
    ]);
  });

  it('counts every refusal of an aggregated row in the total', async () => {
    await app.post(rejectionRecord(), rejectionRecord({ count: 58 }));
    const { body } = await app.call('POST', '/v1/usage/rejections', secret, {});
    expect(body.total).toBe(59);
    expect(body.rejections.map(({ count }: { count: number }) => count).toSorted()).toEqual([1, 58]);
  });

  it('finds a refusal by the model that it names, resolved or asked for', async () => {
    const excluded = rejectionRecord({ code: 'model_excluded', model: null, requested_model: 'acme/secret' });
    await app.post(
      excluded,
      rejectionRecord(),
      rejectionRecord({ model: 'acme/swift', requested_model: 'swift' }),
    );
    const found = async (asked: string): Promise<string[]> =>
      (await app.call('POST', '/v1/usage/rejections', secret, { model: [asked] })).body.rejections.map(
        ({ model }: { model: string }) => model,
      );
    expect(await found('acme/secret')).toEqual(['acme/secret']);
    expect(await found('acme/swift')).toEqual(['acme/swift', 'acme/swift']);
    expect(await found('swift')).toEqual(['acme/swift']);
  });
});
