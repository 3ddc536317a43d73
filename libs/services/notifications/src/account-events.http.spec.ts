import { ACCOUNT_EVENT_TYPES, type AccountEventType } from '@gateway/contracts';
import { startOnOwnDatabase, type NotificationsApp, type Person } from './notifications.fixture.js';

let app: NotificationsApp;
let owner: Person;

beforeAll(async () => {
  app = await startOnOwnDatabase();
});
afterAll(() => app.close());
beforeEach(() => {
  owner = app.person();
  app.receiver.received.length = 0;
});

/** Returns the delivered events of a type, in order. */
const sent = async (type: string): Promise<Record<string, unknown>[]> => {
  await app.deliver();
  return app.receiver.of(type).map(({ event }) => event.data);
};

/** Events that other services make, each with exactly the fields of the spec's table. */
const PASSED_ON: Partial<Record<AccountEventType, Record<string, unknown>>> = {
  'api_key.created': { key_id: 'key_1', label: 'a', masked_key: 'rsk_ab12...wxyz' },
  'api_key.revoked': { key_id: 'key_1', label: null, masked_key: 'rsk_ab12...wxyz' },
  'member.added': { user_id: 'usr_1', role: 'member' },
  'member.removed': { user_id: 'usr_1', role: 'admin' },
  'balance.credited': { amount_usd: '5', balance_after: '9', payment_event_id: 'pe_1', source: 'coupon' },
  'auto_recharge.triggered': { amount_usd: '5', scheduled_payment_id: 'pay_1' },
  'auto_recharge.succeeded': {
    payment_event_id: 'pe_1',
    payment_id: 'pay_1',
    amount_usd: '5',
    current_balance_usd: '9',
    recovered: false,
  },
  'auto_recharge.failed': { reason: 'card_declined', amount_usd: '5' },
  'payment.succeeded': {
    payment_event_id: 'pe_1',
    payment_id: 'pay_1',
    provider: 'stripe',
    currency: 'USD',
    amount_usd: '5',
  },
  'payment.failed': {
    payment_id: null,
    provider: 'stripe',
    currency: 'USD',
    amount_usd: '5',
    reason: 'card_declined',
    source: 'card_top_up',
  },
  'provider_key.added': { pk_id: 'pk_1', provider: 'openai', label: null },
  'provider_key.removed': { pk_id: 'pk_1', provider: 'openai', label: 'b' },
  'byok_key.failed': {
    pk_id: 'pk_1',
    provider: 'openai',
    label: null,
    model: 'openai/gpt-5.4',
    error_code: 'invalid_api_key',
    provider_code: 'invalid_api_key',
    message: 'Incorrect API key provided.',
    request_id: 'req_1',
    served_on_platform: true,
  },
  'model.retiring': {
    model: 'openai/gpt-5',
    retires_at: '2026-12-11',
    days_left: 7,
    successor: null,
    requests_30d: 12,
    last_used_at: '2026-12-03T10:00:00.000Z',
    prompt_change_pct: null,
    completion_change_pct: null,
  },
  'batch.completed': {
    batch_id: 'b_1',
    status: 'completed',
    model: 'a/b',
    provider: 'p',
    output_file_id: 'file_1',
  },
  'batch.failed': { batch_id: 'b_1', status: 'expired', model: 'a/b', provider: 'p', output_file_id: null },
  'video.completed': {
    task_id: 't_1',
    status: 'completed',
    model: 'a/b',
    provider: 'p',
    video_url: 'https://x.example/v.mp4',
    error_code: null,
    error_message: null,
  },
  'video.failed': {
    task_id: 't_1',
    status: 'failed',
    model: 'a/b',
    provider: 'p',
    video_url: null,
    error_code: 'content_policy',
    error_message: 'No.',
  },
};

describe('events of other services', () => {
  it.each<[string, AccountEventType]>([
    ['EVT-04 EVT-42 api_key.created', 'api_key.created'],
    ['EVT-05 api_key.revoked', 'api_key.revoked'],
    ['EVT-06 member.added', 'member.added'],
    ['EVT-07 member.removed', 'member.removed'],
    ['EVT-10 balance.credited', 'balance.credited'],
    ['EVT-12 auto_recharge.triggered', 'auto_recharge.triggered'],
    ['EVT-13 auto_recharge.succeeded', 'auto_recharge.succeeded'],
    ['EVT-14 auto_recharge.failed', 'auto_recharge.failed'],
    ['EVT-17 payment.succeeded', 'payment.succeeded'],
    ['EVT-47 payment.failed', 'payment.failed'],
    ['EVT-24 provider_key.added', 'provider_key.added'],
    ['EVT-25 provider_key.removed', 'provider_key.removed'],
    ['EVT-48 byok_key.failed', 'byok_key.failed'],
    ['issue 37 model.retiring', 'model.retiring'],
    ['EVT-26 batch.completed', 'batch.completed'],
    ['EVT-27 batch.failed', 'batch.failed'],
    ['EVT-29 video.completed', 'video.completed'],
    ['EVT-30 video.failed', 'video.failed'],
  ])('%s is delivered with exactly its fields', async (_promise, type) => {
    const data = PASSED_ON[type] ?? {};
    await app.channel(owner, type);
    await app.account(app.event({ type, account_id: 'acct_1', org_id: owner.orgId, data } as never));
    const [delivered] = await sent(type);
    expect(delivered).toEqual(data);
    expect(Object.keys(delivered)).toEqual(Object.keys(data));
  });

  it('those and the ones made here are the 23 of the spec, model.retiring and budget.threshold', () => {
    const here = [
      'balance.low',
      'balance.depleted',
      'spend_cap.approaching',
      'spend_cap.hit',
      'budget.threshold',
      'rate_limit.threshold',
      'provider.fallback',
    ];
    expect([...Object.keys(PASSED_ON), ...here].sort()).toEqual([...ACCOUNT_EVENT_TYPES].sort());
    expect(ACCOUNT_EVENT_TYPES).toHaveLength(25);
  });

  it('of an account without an organization is sent to nobody', async () => {
    await app.channel(owner, 'api_key.created');
    const data = PASSED_ON['api_key.created'];
    await app.account(app.event({ type: 'api_key.created', account_id: 'a', org_id: null, data } as never));
    expect(await sent('api_key.created')).toEqual([]);
  });
});
