import fc from 'fast-check';
import { NOT_BEGUN } from '../errors/upstream-error.js';
import { compactEnd, compactFacts, wholeFacts, wholeUsage } from './compact-usage.js';
import type { AttemptRecord, LimitReading, PricedFrom, UsageRecord, UsageRecordV2 } from './usage-record.js';

/** Few values, so that members often repeat each other and often have their usual value. */
const name = fc.constantFrom('a', 'b', 'usr_1', 'team_1/usr_1', '0', 'default', '');
const maybe = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(of, { nil: null });
const sometimes = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(of, { nil: undefined });
const count = fc.constantFrom(0, 1, 2, 1_000_000_007);
const ms = fc.constantFrom(0, 0.001, 27.216, 1e7);
const amount = fc.constantFrom('0', '0.000053', '-1', '99999999999.123456789012');
const time = fc.constantFrom(
  '2026-11-29T14:33:52.412Z',
  '2026-11-29T14:33:52.435Z',
  '2026-11-29T16:33:52+02:00',
);
const status = fc.constantFrom(200, 402, 500, 502);

const attempt: fc.Arbitrary<AttemptRecord> = fc.record({
  n: fc.integer({ min: 1, max: 3 }),
  provider: name,
  credential_id: sometimes(name),
  upstream_model: sometimes(name),
  model: name,
  status: fc.constantFrom('success', 'error', 'cancelled'),
  http_status: maybe(status),
  error_code: maybe(name),
  provider_code: maybe(name),
  error_message: maybe(name),
  not_begun: sometimes(fc.constantFrom(...NOT_BEGUN)),
  started_at: time,
  latency_ms: ms,
  ttft_ms: maybe(ms),
  prompt_tokens: count,
  completion_tokens: count,
  served: fc.boolean(),
  house_usd: maybe(amount),
});

const reading: fc.Arbitrary<LimitReading> = fc.record({
  scope: fc.constantFrom('key', 'team_member', 'member', 'team', 'org', 'tag', 'end_user', 'provider'),
  scope_id: name,
  rpm: count,
  rpm_limit: maybe(count),
  rpd: count,
  rpd_limit: maybe(count),
  // Null and absent both mean none.
  cap_usd: sometimes(amount),
});

const priced: fc.Arbitrary<PricedFrom> = fc.record({
  snapshot_id: name,
  provider: name,
  upstream_model: name,
  tier: fc.constantFrom('default', 'flex', 'batch'),
  discount_pct: maybe(name),
  byok_served: fc.boolean(),
  byok_fee_pct: fc.constantFrom('0', '5'),
  context: fc.dictionary(name, fc.oneof(fc.string(), fc.boolean(), count), { maxKeys: 2 }),
  price_window: maybe(name),
  priced_at: time,
});

const usage: fc.Arbitrary<UsageRecord['usage']> = fc.record(
  {
    requests: count,
    prompt_tokens: count,
    completion_tokens: count,
    video_seconds: fc.constantFrom('0', '4.5'),
    // A provider's number, where the contract says text.
    audio_seconds: fc.constantFrom('0', 0 as unknown as string),
    tool_calls: fc.dictionary(name, count, { maxKeys: 2 }),
    unpriced_counters: fc.dictionary(name, count, { maxKeys: 2 }),
  },
  { requiredKeys: [] },
);

const record: fc.Arbitrary<UsageRecord> = fc.record({
  id: name,
  request_id: name,
  unit: count,
  account_id: name,
  org_id: maybe(name),
  team_id: maybe(fc.constantFrom('team_1', 'b')),
  member_id: name,
  key_id: name,
  endpoint: name,
  model: name,
  requested_model: name,
  provider: maybe(name),
  status: fc.constantFrom('success', 'error'),
  outcome: fc.constantFrom('served', 'failed', 'cached', 'cancelled'),
  http_status: status,
  error_code: maybe(name),
  stream: fc.boolean(),
  usage,
  usage_estimated: fc.boolean(),
  priced_from: maybe(priced),
  cost_usd: maybe(amount),
  billing: sometimes(fc.constant('off' as const)),
  list_cost_usd: maybe(amount),
  attempts: fc.array(attempt, { maxLength: 3 }),
  latency_ms: ms,
  ttft_ms: maybe(ms),
  created_at: time,
  routing_fallback: fc.boolean(),
  byok_used: fc.boolean(),
  cache_hit: fc.boolean(),
  request_tags: fc.dictionary(name, fc.string(), { maxKeys: 2 }),
  end_user_hash: maybe(name),
  api_version: name,
  limits: fc.array(reading, { maxLength: 5 }),
  budgets: sometimes(fc.constant([])),
  shadow_of: sometimes(fc.record({ alias_id: name, request_id: name })),
  producer: name,
  epoch: name,
  seq: fc.integer({ min: 1 }),
});

/** Counters of 0 say as much as none; a price may have a minimum of seconds. */
function withoutZeros(of: UsageRecord): UsageRecord {
  const counters = Object.entries(of.usage).filter(
    ([counter, value]) => value !== 0 || counter === 'audio_seconds',
  );
  return { ...of, usage: Object.fromEntries(counters) };
}

/** The record out of a journal: facts and end apart, each as JSON. */
function sent(of: UsageRecord): UsageRecordV2 {
  const { producer, epoch, seq } = of;
  const parts = [compactFacts(of), compactEnd(of, of), { producer, epoch, seq }];
  return Object.assign(
    {},
    ...parts.map((part) => JSON.parse(JSON.stringify(part)) as object),
  ) as UsageRecordV2;
}

describe('the record of gateway.usage.v2', () => {
  it('says every member of that of v1, whatever its values', () => {
    fc.assert(
      fc.property(record, (one) => {
        expect(wholeUsage(sent(one))).toEqual(withoutZeros(one));
      }),
      { numRuns: 500 },
    );
  });

  it('has facts that are whole without its end, and stay so where they were whole before', () => {
    fc.assert(
      fc.property(record, (one) => {
        const facts = JSON.parse(JSON.stringify(compactFacts(one))) as UsageRecordV2;
        const whole = wholeFacts(facts);
        expect(one).toMatchObject(JSON.parse(JSON.stringify(whole)) as object);
        expect(wholeFacts(whole)).toEqual(whole);
      }),
    );
  });

  it('is read without an exception whatever it holds, with members of later releases', () => {
    const members = Object.keys(sent(fc.sample(record, { numRuns: 1, seed: 1 })[0]));
    const hostile = fc.dictionary(
      fc.constantFrom(...members, 'attempts', 'limits', 'usage', 'priced_from', '__proto__', 'of_later'),
      fc.oneof(fc.jsonValue(), fc.array(fc.dictionary(name, fc.jsonValue()))),
    );
    fc.assert(
      fc.property(hostile, (data) => {
        const whole = wholeUsage(data as unknown as UsageRecordV2);
        expect(Object.hasOwn(whole, 'of_later')).toBe(Object.hasOwn(data, 'of_later'));
      }),
    );
  });
});
