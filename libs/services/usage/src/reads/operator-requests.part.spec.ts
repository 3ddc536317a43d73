import { attemptRecord, rejectionRecord, usageRecord } from '@gateway/testing';
import { app, reads } from './all-reads.fixture.js';
import { secret, tokenOf } from './reads.fixture.js';

const read = (as: string | null, id: string) => app.call('GET', `/v1/admin/usage/requests/${id}`, as);

describe('who served a request, for super admins', () => {
  beforeEach(() => reads.clear());

  it('shows provider, upstream model and credential of every attempt, of whichever organization', async () => {
    const attempts = [
      attemptRecord({
        n: 1,
        provider: 'harbor',
        served: false,
        credential_id: 'cred_1',
        upstream_model: 'swift-1',
      }),
      attemptRecord({ n: 2, provider: 'quay', started_at: '2099-01-01T00:00:00.000Z' }),
    ];
    const record = usageRecord({ account_id: 'acct_2', org_id: 'org_2', attempts });
    await app.post(record);
    const { status, body } = await read(tokenOf('superAdmin'), record.request_id);
    expect([status, body.attempts]).toEqual([
      200,
      [
        expect.objectContaining({
          n: 1,
          provider: 'harbor',
          upstream_model: 'swift-1',
          credential_id: 'cred_1',
        }),
        expect.objectContaining({ n: 2, provider: 'quay', upstream_model: null, credential_id: null }),
      ],
    ]);
    expect(body).toMatchObject({ request_id: record.request_id, model: record.model, key_id: record.key_id });
  });

  it('no other read has any of it', async () => {
    const attempts = [
      attemptRecord({ provider: 'harbor', credential_id: 'cred_1', upstream_model: 'swift-1' }),
    ];
    const record = usageRecord({ provider: 'quay', attempts });
    await app.post(record);
    const texts = [secret, tokenOf('owner')].map(async (as) => [
      await reads.lookup(as, record.request_id),
      await reads.events(as),
      await app.call('GET', `/v1/usage/events/${record.id}/attempts`, as),
    ]);
    for (const answer of (await Promise.all(texts)).flat()) {
      expect(answer.status).toBe(200);
      expect(JSON.stringify(answer.body)).not.toMatch(/cred_1|swift-1|harbor/);
    }
  });

  it('shows a refusal without attempts, 404 what is unknown, 403 everybody else', async () => {
    const refused = rejectionRecord({ account_id: 'acct_2', org_id: 'org_2' });
    await app.post(refused);
    const { status, body } = await read(tokenOf('superAdmin'), refused.request_id);
    expect([status, body.outcome, body.attempts]).toEqual([200, 'rejected', []]);
    expect((await read(tokenOf('superAdmin'), 'req_unknown')).status).toBe(404);
    expect((await read(tokenOf('owner'), refused.request_id)).status).toBe(403);
    expect((await read(secret, refused.request_id)).status).toBe(403);
    expect((await read(null, refused.request_id)).status).toBe(401);
  });
});
