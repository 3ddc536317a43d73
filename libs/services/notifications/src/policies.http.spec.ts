import { startOnOwnDatabase, type NotificationsApp, type Person } from './notifications.fixture.js';

let app: NotificationsApp;
let owner: Person;

beforeAll(async () => {
  app = await startOnOwnDatabase();
});
afterAll(() => app.close());
beforeEach(() => (owner = app.person()));

const locOf = (answer: { body: { error: { details: { loc: string[] }[] } } }) =>
  answer.body.error.details[0].loc;

describe('policies', () => {
  const policy = (fields: object) =>
    app.call('POST', '/alerts/policies', owner, { is_enabled: true, ...fields });

  it.each([
    ['ALERT-08 422 for an event that does not exist', { alert_type: 'key.created' }, 'alert_type'],
    ['ALERT-26 422 for channel.test', { alert_type: 'channel.test' }, 'alert_type'],
    ['ALERT-10 422 for balance.low without a floor', { alert_type: 'balance.low' }, 'threshold_usd'],
    ['ALERT-11 422 for a floor of 0', { alert_type: 'balance.low', threshold_usd: 0 }, 'threshold_usd'],
    ['ALERT-11 422 for a floor below 0', { alert_type: 'balance.low', threshold_usd: -1 }, 'threshold_usd'],
    [
      '422 for a floor that is no amount',
      { alert_type: 'balance.low', threshold_usd: 'ten' },
      'threshold_usd',
    ],
    [
      'ALERT-12 422 for a floor elsewhere',
      { alert_type: 'balance.depleted', threshold_usd: 5 },
      'threshold_usd',
    ],
    [
      'ALERT-12 422 for a floor beside a percentage',
      { alert_type: 'spend_cap.approaching', threshold_usd: 5, threshold_pct: 50 },
      'threshold_usd',
    ],
    ['ALERT-13 422 without a percentage', { alert_type: 'spend_cap.approaching' }, 'threshold_pct'],
    ['ALERT-13 422 without a percentage', { alert_type: 'rate_limit.threshold' }, 'threshold_pct'],
    ['ALERT-14 422 for 0 %', { alert_type: 'rate_limit.threshold', threshold_pct: 0 }, 'threshold_pct'],
    ['ALERT-14 422 for 101 %', { alert_type: 'spend_cap.approaching', threshold_pct: 101 }, 'threshold_pct'],
    [
      'ALERT-15 422 for a percentage elsewhere',
      { alert_type: 'spend_cap.hit', threshold_pct: 50 },
      'threshold_pct',
    ],
    ['422 for a channel of nobody', { alert_type: 'api_key.created', channel_id: 'chn_x' }, 'channel_id'],
  ])('%s', async (_promise, fields, field) => {
    const { id } = await app.channel(owner);
    const refused = await policy({ channel_id: id, ...fields });
    expect([refused.status, locOf(refused)]).toEqual([422, [field]]);
  });

  it('ALERT-07 ALERT-14 ALERT-20 POST answers the record, thresholds as numbers', async () => {
    const { id } = await app.channel(owner);
    const made = await policy({ channel_id: id, alert_type: 'balance.low', threshold_usd: '12.50' });
    expect([made.status, made.body]).toEqual([
      201,
      {
        id: expect.stringMatching(/^pol_/),
        org_id: owner.orgId,
        channel_id: id,
        alert_type: 'balance.low',
        is_enabled: true,
        threshold_usd: 12.5,
        threshold_pct: null,
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
    ]);
    for (const threshold_pct of [1, 100])
      for (const alert_type of ['spend_cap.approaching', 'rate_limit.threshold'])
        expect((await policy({ channel_id: id, alert_type, threshold_pct })).body.threshold_pct).toBe(
          threshold_pct,
        );
    expect(
      (await policy({ channel_id: id, alert_type: 'balance.low', threshold_usd: 0.01 })).body.threshold_usd,
    ).toBe(0.01);
  });

  it('422 for the channel of another org', async () => {
    const { id } = await app.channel(app.person());
    expect(locOf(await policy({ channel_id: id, alert_type: 'api_key.created' }))).toEqual(['channel_id']);
  });

  it('ALERT-21 PATCH changes threshold, channel and switch, under the rules of create', async () => {
    const first = await app.channel(owner, { alert_type: 'balance.low', threshold_usd: 5 });
    const second = await app.channel(owner);
    const path = `/alerts/policies/${first.policies[0]}`;
    const patch = (body: object) => app.call('PATCH', path, owner, body);
    expect((await patch({ threshold_usd: 7.25 })).body.threshold_usd).toBe(7.25);
    expect((await patch({ channel_id: second.id })).body.channel_id).toBe(second.id);
    expect((await patch({ is_enabled: false })).body).toMatchObject({
      is_enabled: false,
      threshold_usd: 7.25,
    });
    for (const body of [
      { threshold_usd: 0 },
      { threshold_usd: null },
      { threshold_pct: 50 },
      { channel_id: 'chn_none' },
      { alert_type: 'api_key.created' },
      { is_enabled: null },
    ])
      expect([body, (await patch(body)).status]).toEqual([body, 422]);
    expect((await app.call('PATCH', '/alerts/policies/pol_none', owner, {})).status).toBe(404);
  });

  it('DELETE takes it away, once', async () => {
    const { policies } = await app.channel(owner, 'api_key.created');
    const remove = () => app.call('DELETE', `/alerts/policies/${policies[0]}`, owner);
    expect([(await remove()).status, (await remove()).status]).toEqual([204, 404]);
    expect((await app.call('GET', '/alerts', owner)).body.policies).toEqual([]);
  });
});
