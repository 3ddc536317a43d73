import { createHmac } from 'node:crypto';
import type { StoredResponse } from '@gateway/contracts';
import { mintSecret, SystemRandom } from '@gateway/platform';
import { rejectionRecord, usageRecord } from '@gateway/testing';
import { LedgerStore } from '../ledger/ledger.store.js';
import { app } from '../reads/rollups.fixture.js';
import { FLEET_TOKEN, limitedKey } from '../usage.fixture.js';
import { Erasures } from './erasures.js';
import { emptyTables } from '../postgres/emptied-tables.fixture.js';

const random = new SystemRandom();
const [own, narrow, wide, personal, other] = Array.from({ length: 5 }, () => mintSecret('rsk_', random));
const DAY_MS = 86_400_000;
const endUserKey = Buffer.alloc(32, 7).toString('base64');
const hashOf = (id: string): string =>
  createHmac('sha256', Buffer.alloc(32, 7)).update(id).digest('base64url');

beforeAll(() => {
  const { principals } = app;
  principals.add(own, limitedKey({ endUserKey }));
  principals.add(narrow, limitedKey({ endUserKey, permissions: ['inference:write'] }));
  principals.add(wide, limitedKey({ endUserKey, permissions: ['end-users:write'] }));
  principals.add(personal, limitedKey({ endUserKey, orgId: null, teamId: null }));
  principals.add(other, limitedKey({ endUserKey, accountId: 'acct_2', orgId: 'org_2' }));
});

const begin = async (): Promise<void> => {
  app.directory.forgotten.splice(0);
  await emptyTables(
    app.database.pool,
    'usage_slot, usage_hour, usage_day, usage_event, rejection, erasure, erased_end_user, producer',
  );
};

const erase = (as: string, end_user_id: unknown = 'ada-lovelace') =>
  app.call('POST', '/v1/end-users/erasures', as, { end_user_id });
const hashes = async (): Promise<(string | null)[]> => {
  const { rows } = await app.database.pool.query<{ end_user_hash: string | null }>(
    'SELECT end_user_hash FROM usage_event ORDER BY request_id',
  );
  return rows.map(({ end_user_hash }) => end_user_hash);
};
const summary = () => app.call('POST', '/v1/usage', own, { org_id: 'org_1' });

describe('POST /v1/end-users/erasures', () => {
  beforeEach(begin);

  it('ERA-01 ERA-05 answers 202, clears the identifier, leaves counts and costs, and a receipt that names nobody', async () => {
    await app.post(
      usageRecord({ request_id: 'req_1', end_user_hash: hashOf('ada-lovelace'), cost_usd: '2' }),
      usageRecord({ request_id: 'req_2', end_user_hash: hashOf('ada-lovelace'), cost_usd: '3' }),
      usageRecord({ request_id: 'req_3', end_user_hash: hashOf('bob') }),
    );
    const before = (await summary()).body;
    const { status, body } = await erase(own);
    expect(status).toBe(202);
    expect(body).toEqual({
      id: expect.stringMatching(/^era_/),
      status: 'completed',
      records_updated: 2,
      created_at: expect.any(String),
      completed_at: expect.any(String),
    });
    expect(await hashes()).toEqual([null, null, hashOf('bob')]);
    expect((await summary()).body).toEqual(before);
    expect(app.directory.forgotten).toEqual([`acct_1/${hashOf('ada-lovelace')}`]);
    const receipt = await app.call('GET', `/v1/end-users/erasures/${body.id}`, own);
    expect([receipt.status, receipt.body]).toEqual([200, body]);
    expect((await app.call('GET', `/v1/end-users/erasures/${body.id}`, other)).status).toBe(404);
    const { rows } = await app.database.pool.query('SELECT * FROM erasure');
    expect(JSON.stringify(rows)).not.toContain('ada-lovelace');
  });

  it('ERA-02 refuses a key of no organization', async () => {
    expect((await erase(personal)).status).toBe(403);
  });

  it('ERA-03 takes a scoped key with end-users:write alone', async () => {
    const refused = await erase(narrow);
    expect([refused.status, refused.body.error.code]).toEqual([403, 'forbidden']);
    expect((await erase(wide)).status).toBe(202);
    for (const id of ['', 7, undefined, 'x'.repeat(513)])
      expect((await app.call('POST', '/v1/end-users/erasures', own, { end_user_id: id })).status).toBe(422);
  });

  it("ERA-04 touches the records of the key's organization only", async () => {
    await app.post(
      usageRecord({ request_id: 'req_1', end_user_hash: hashOf('ada-lovelace') }),
      usageRecord({
        request_id: 'req_2',
        account_id: 'acct_2',
        org_id: 'org_2',
        end_user_hash: hashOf('ada-lovelace'),
      }),
    );
    expect((await erase(own)).body.records_updated).toBe(1);
    expect(await hashes()).toEqual([null, hashOf('ada-lovelace')]);
  });

  it('S10 a replay does not bring the identifier back, and what comes later is kept', async () => {
    const record = usageRecord({ request_id: 'req_1', end_user_hash: hashOf('ada-lovelace') });
    await app.post(record);
    await erase(own);
    await emptyTables(app.database.pool, 'usage_event, usage_slot, usage_hour, usage_day');
    await app.post(record);
    await app.post(record);
    expect(await hashes()).toEqual([null]);
    const later = new Date(Date.now() + 60_000).toISOString();
    await app.post(
      usageRecord({ request_id: 'req_2', end_user_hash: hashOf('ada-lovelace'), created_at: later }),
    );
    expect(await hashes()).toEqual([null, hashOf('ada-lovelace')]);
  });

  it('ERA-05 is completed when the stored responses are gone, not before', async () => {
    const stored = {
      id: 'resp_1',
      account_id: 'acct_1',
      end_user_hash: hashOf('ada-lovelace'),
      created_at: 1,
    };
    await app.responses.store([stored as StoredResponse]);
    app.responses.faults.push(new Error('the workers service is away'));
    const { body } = await erase(own);
    expect([body.status, app.responses.kept]).toEqual(['running', [stored]]);
    await app.app.get(Erasures, { strict: false }).advance();
    const receipt = await app.call('GET', `/v1/end-users/erasures/${body.id}`, own);
    expect([receipt.body.status, app.responses.kept]).toEqual(['completed', []]);
  });

  it('ERA-05 removes an answer that was under way at the erasure when it is looked at again', async () => {
    const { body } = await erase(own);
    expect(body.status).toBe('completed');
    const late = { id: 'resp_2', account_id: 'acct_1', end_user_hash: hashOf('ada-lovelace'), created_at: 1 };
    await app.responses.store([late as StoredResponse]);
    await app.database.pool.query(`UPDATE erasure SET completed_at = completed_at - interval '61 s'`);
    await app.app.get(Erasures, { strict: false }).advance();
    expect(app.responses.kept).toEqual([]);
  });

  it('ERA-05 goes on where a service was away, and looks again for what was posted meanwhile', async () => {
    const erasures = app.app.get(Erasures, { strict: false });
    app.directory.isUnavailable = true;
    const { status, body } = await erase(own);
    expect([status, body.status]).toEqual([202, 'running']);
    app.directory.isUnavailable = false;
    await erasures.advance();
    const receipt = () => app.call('GET', `/v1/end-users/erasures/${body.id}`, own);
    expect((await receipt()).body.status).toBe('completed');
    // A posting that had begun before the tombstone was there.
    await app.post(usageRecord({ request_id: 'req_1', created_at: '2026-11-01T00:00:00Z' }));
    await app.database.pool.query('UPDATE usage_event SET end_user_hash = $1', [hashOf('ada-lovelace')]);
    await erasures.advance();
    expect(await hashes()).toEqual([hashOf('ada-lovelace')]);
    await app.database.pool.query(`UPDATE erasure SET completed_at = completed_at - interval '61 s'`);
    await erasures.advance();
    expect([await hashes(), (await receipt()).body.records_updated]).toEqual([[null], 1]);
  });
});

describe('GET /internal/erasures', () => {
  beforeEach(begin);

  it('ERA-05 an erasure that cannot be done keeps none that came after it', async () => {
    const { directory } = app;
    const forget = directory.forget.bind(directory);
    directory.forget = (accountId, endUserHash) =>
      endUserHash === hashOf('ada-lovelace')
        ? Promise.reject(new Error('too many'))
        : forget(accountId, endUserHash);
    try {
      expect((await erase(own)).body.status).toBe('running');
      expect((await erase(own, 'bob')).body.status).toBe('completed');
    } finally {
      directory.forget = forget;
    }
    await app.app.get(Erasures, { strict: false }).advance();
    expect(directory.forgotten).toEqual([`acct_1/${hashOf('bob')}`, `acct_1/${hashOf('ada-lovelace')}`]);
  });

  it('S10 lists who was erased since then to the fleet alone, for what other services keep', async () => {
    await erase(own);
    const since = (ms: number): string =>
      `/internal/erasures?since=${new Date(Date.now() + ms).toISOString()}`;
    const { status, body } = await app.call('GET', since(-DAY_MS), FLEET_TOKEN);
    expect([status, body]).toEqual([
      200,
      {
        erased: [
          { accountId: 'acct_1', endUserHash: hashOf('ada-lovelace'), erasedAtMs: expect.any(Number) },
        ],
        isAll: true,
      },
    ]);
    expect((await app.call('GET', since(DAY_MS), FLEET_TOKEN)).body.erased).toEqual([]);
    expect((await app.call('GET', '/internal/erasures?since=never', FLEET_TOKEN)).status).toBe(422);
    expect((await app.call('GET', since(0), own)).status).toBe(404);
  });
});

describe('retention', () => {
  beforeEach(begin);

  it('LIM-16 READ-39 removes refusals past their 90 days and none that is younger', async () => {
    const age = (ms: number): string => new Date(Date.now() - ms).toISOString();
    await app.post(
      rejectionRecord({ request_id: 'req_old', created_at: age(92 * DAY_MS) }),
      rejectionRecord({ request_id: 'req_young', created_at: age(90 * DAY_MS - 60_000) }),
      rejectionRecord({ request_id: 'req_new' }),
      usageRecord({ request_id: 'req_ever', created_at: age(900 * DAY_MS) }),
    );
    await app.app.get(LedgerStore, { strict: false }).removeOldRejections();
    const { rows } = await app.database.pool.query('SELECT request_id FROM rejection ORDER BY 1');
    expect(rows.map(({ request_id }) => request_id)).toEqual(['req_new', 'req_young']);
    const { body } = await app.call('POST', '/v1/usage/rejections', own, {});
    expect(body.total).toBe(2);
    expect((await summary()).body.total_requests).toBe(1);
  });
});
