import type { LimitReading } from '@gateway/contracts';
import { attemptRecord, usageRecord } from '@gateway/testing';
import { detailOf, factsOf, readingsOf, type StoredFacts } from './event-detail.js';

const NO_COLUMNS = { usage: null, attempts: null, priced_from: null, limits: null };
const stored = (detail: string): StoredFacts => ({ ...NO_COLUMNS, detail });
const reading = (more: Pick<LimitReading, 'scope' | 'scope_id'> & Partial<LimitReading>): LimitReading => ({
  rpm: 3,
  rpm_limit: 10,
  rpd: 4,
  rpd_limit: null,
  cap_usd: null,
  ...more,
});

describe('facts of an event as one text', () => {
  const limits = [
    reading({ scope: 'key', scope_id: 'key_1', cap_usd: '5' }),
    reading({ scope: 'key', scope_id: 'key_1/m:acme/swift' }),
    reading({ scope: 'team_member', scope_id: 'team_1/usr_1' }),
    reading({ scope: 'member', scope_id: 'usr_other' }),
    reading({ scope: 'org', scope_id: 'org_1/b:0-86400000' }),
    reading({ scope: 'tag', scope_id: 'project=a/b:r30' }),
  ];
  const priced_from = {
    snapshot_id: 'snap_1',
    provider: 'hosty',
    upstream_model: 'swift',
    tier: 'default' as const,
    discount_pct: null,
    byok_served: false,
    byok_fee_pct: '0',
    context: { quality: 'high' },
  };

  it('come back as they were recorded', () => {
    const attempts = [
      attemptRecord({ status: 'error', served: false, error_code: 'upstream_error', house_usd: '0.02' }),
    ];
    const unit = usageRecord({ limits, priced_from, attempts });
    const facts = factsOf(stored(detailOf(unit)));
    expect(readingsOf(facts.limits, unit)).toEqual(limits);
    expect(facts).toMatchObject({ usage: unit.usage, priced_from });
    expect(facts.attempts).toMatchObject([
      { status: 'error', error_code: 'upstream_error', house_usd: '0.02', provider: 'hosty' },
    ]);
  });

  it('leave out the ids of scopes that the columns say', () => {
    const text = detailOf(usageRecord({ limits }));
    for (const id of ['"key_1"', 'team_1/usr_1']) expect(text).not.toContain(id);
    for (const id of ['key_1/m:acme/swift', 'usr_other', 'org_1/b:', 'project=a/b:r30'])
      expect(text).toContain(id);
  });

  it('of columns win over a text: a release before this one may have replaced the event', () => {
    const { detail } = stored(detailOf(usageRecord({ usage: { prompt_tokens: 1, requests: 1 } })));
    const usage = { prompt_tokens: 9, requests: 1 };
    expect(factsOf({ ...NO_COLUMNS, usage, detail })).toMatchObject({ usage, priced_from: null });
  });

  it.each([
    ['half a character', 'a\ud83d', 'a\ufffd'],
    ['the other half', '\ude00b', '\ufffdb'],
    ['a whole one', '\u{1f600}', '\u{1f600}'],
    ['what only looks like half a one', String.raw`\ud83d`, String.raw`\ud83d`],
    ['a backslash before half a one', '\\\ud83d', '\\\ufffd'],
    ['a line end', 'a\nb\u2028c', 'a\nb\u2028c'],
  ])('%s is one line that PostgreSQL reads', (_what, text, kept) => {
    const detail = detailOf(usageRecord({ attempts: [attemptRecord({ error_message: text })] }));
    expect(detail).not.toContain('\n');
    expect(factsOf(stored(detail)).attempts).toMatchObject([{ error_message: kept }]);
  });
});
