import { rejectionRecord, usageRecord } from '@gateway/testing';
import type { UsageEventRecord } from '@gateway/contracts';
import { ORG, otherSecret, secret, tokenOf } from './reads.fixture.js';
import { app, reads } from './all-reads.fixture.js';

describe('whose usage a caller sees', () => {
  beforeEach(() => reads.clear());

  it('AUTH-08 AUTH-09 a key sees its own usage alone, whatever the filters say', async () => {
    const own = usageRecord();
    const foreign = usageRecord({ key_id: 'key_2', member_id: 'usr_2' });
    await app.post(own, foreign);
    for (const org_id of ['org_1', 'org_other', 7, {}]) {
      const body = { org_id, team_id: 'team_x', member_id: 'usr_2' };
      expect((await reads.summary(secret, body)).body.total_requests).toBe(1);
      expect((await reads.events(secret, body)).body.events.map(({ id }: UsageEventRecord) => id)).toEqual([
        own.id,
      ]);
    }
    const unseen = await reads.lookup(secret, foreign.request_id);
    expect(unseen.status).toBe(404);
    // Whoever looks for a request that is never recorded reads why.
    expect(JSON.stringify(unseen.body)).toMatch(/older than 90 days.*count_tokens/);
    expect((await app.call('GET', `/v1/usage/events/${foreign.id}/attempts`, secret)).status).toBe(404);
    expect((await reads.lookup(otherSecret, foreign.request_id)).status).toBe(200);
  });

  it('AUTH-07 AUTH-10 AUTH-11 AUTH-12 a session sees the org: its owner all of it, a member the usage of their own keys, an outsider 403', async () => {
    const first = usageRecord();
    const second = usageRecord({ key_id: 'key_2', member_id: 'usr_2' });
    await app.post(first, second, usageRecord({ account_id: 'acct_2', org_id: 'org_2' }));
    expect((await reads.summary(tokenOf('owner'))).body.total_requests).toBe(2);
    expect((await reads.summary(tokenOf('owner'), { ...ORG, member_id: 'usr_2' })).body.total_requests).toBe(
      1,
    );
    expect((await reads.events(tokenOf('member'))).body.events.map(({ id }: UsageEventRecord) => id)).toEqual(
      [second.id],
    );
    // A filter narrows what the caller sees and never widens it.
    expect(
      (await reads.summary(tokenOf('member'), { ...ORG, member_id: first.member_id })).body.total_requests,
    ).toBe(0);
    expect((await reads.lookup(tokenOf('member'), first.request_id)).status).toBe(404);
    expect((await reads.lookup(tokenOf('owner'), first.request_id)).status).toBe(200);
    expect((await reads.summary(tokenOf('outsider'))).status).toBe(403);
    expect((await reads.summary(null)).status).toBe(401);
  });

  it('READ-50 LIM-18 a session reads what it has read before, with its Age, and past that with refresh=true', async () => {
    await app.post(usageRecord());
    const read = (path: string, body: object) =>
      app.call('POST', path, tokenOf('owner'), { ...ORG, ...body });
    for (const path of ['/v1/usage', '/v1/usage/events', '/v1/usage/rejections']) {
      const filter = { since: '2020-01-01', endpoint: '/v1/chat/completions' };
      const first = await read(path, filter);
      expect(first.headers.age).toBeUndefined();
      await app.post(usageRecord(), rejectionRecord());
      const again = await read(path, filter);
      expect([again.body, again.headers.age]).toEqual([first.body, '0']);
      for (const refreshed of [
        await read(`${path}?refresh=true`, filter),
        await read(path, { ...filter, refresh: true }),
      ]) {
        expect(refreshed.headers.age).toBeUndefined();
        expect(refreshed.body).not.toEqual(first.body);
      }
      expect((await read(path, filter)).body).not.toEqual(first.body);
    }
    const limits = await app.call('GET', '/v1/usage/rate-limits?org_id=org_1&refresh=true', tokenOf('owner'));
    expect(limits.status).toBe(200);
  });

  it.each(['/v1/usage', '/v1/usage/events'])(
    'AUTH-13 %s answers 422 to a missing org_id of every caller and to a malformed one of a session',
    async (path) => {
      for (const as of [secret, tokenOf('owner')]) {
        const { status, body } = await app.call('POST', path, as, {});
        expect([status, body.error.details[0].loc]).toEqual([422, ['org_id']]);
      }
      for (const org_id of ['nonsense', 12]) {
        expect((await app.call('POST', path, tokenOf('owner'), { org_id })).status).toBe(422);
      }
    },
  );
});
