/** A difference that a statement over the ledger of `reconcile.db.spec` makes, and what the proof says of it. */
export interface PlantedBySql {
  sql: string;
  /** The table refuses it. */
  isGuarded?: boolean;
  found: Record<string, unknown>[];
  /** Kinds that the same plant lets differ as well. */
  also?: string[];
  /** True for a fault that no repair can mend. */
  stays?: boolean;
}

export const PLANTED_BY_SQL: Record<string, PlantedBySql> = {
  event_without_transfer: {
    isGuarded: true,
    sql: "DELETE FROM transfer WHERE debit = 'acct_2'",
    found: [
      { kind: 'event_without_transfer', account: 'acct_2', expected: '2', found: '0' },
      { kind: 'account_differs', account: 'acct_2', expected: '0', found: '-2' },
      { kind: 'account_differs', account: 'revenue' },
    ],
  },
  transfer_without_event: {
    sql: `INSERT INTO transfer VALUES (gen_random_uuid(), 'usage', 'planted', 'acct_1', 'revenue', 0.75, now())`,
    also: ['account_differs'],
    found: [{ kind: 'transfer_without_event', account: 'acct_1', expected: '0', found: '0.75' }],
  },
  transfer_differs: {
    isGuarded: true,
    sql: "UPDATE transfer SET amount = 1.5 WHERE debit = 'acct_2'",
    also: ['account_differs'],
    found: [{ kind: 'transfer_differs', account: 'acct_2', expected: '2', found: '1.5' }],
  },
  house_differs: {
    sql: 'UPDATE usage_event SET house_cost = 0.03 WHERE house_cost IS NOT NULL',
    found: [{ kind: 'house_differs', account: 'house', expected: '0.03', found: '0.02' }],
  },
  unbilled_differs: {
    sql: "UPDATE usage_event SET is_unbilled = true WHERE account_id = 'acct_2' AND cost > 0",
    found: [{ kind: 'unbilled_differs', account: 'acct_2', expected: '2', found: '0' }],
  },
  account_differs: {
    sql: "UPDATE account SET posted = posted + 1 WHERE id = 'acct_1'",
    also: ['mirror_differs'],
    found: [
      { kind: 'account_differs', account: 'acct_1', expected: '9.25', found: '10.25' },
      { kind: 'books_unbalanced', account: null, expected: '0', found: '1' },
    ],
  },
  total_differs: {
    sql: "UPDATE spend_total SET amount = 7 WHERE account_id = 'acct_1' AND scope = 'team'",
    also: ['mirror_differs'],
    found: [{ kind: 'total_differs', account: 'acct_1', scope: 'team:team_1', expected: '0.75', found: '7' }],
  },
  lapsed_differs: {
    sql: "UPDATE spend_total SET lapsed = 0.25 WHERE account_id = 'acct_1' AND scope = 'org'",
    also: ['mirror_differs'],
    found: [{ kind: 'lapsed_differs', account: 'acct_1', scope: 'org:org_1', expected: '0', found: '0.25' }],
  },
  hour_differs: {
    sql: "DELETE FROM spend_hour WHERE account_id = 'acct_1' AND scope = 'member'",
    found: [{ kind: 'hour_differs', account: 'acct_1', expected: '0.75', found: '0' }],
  },
  event_not_applied: {
    sql: "UPDATE producer SET applied = '{[1,3)}'",
    found: [{ kind: 'event_not_applied', account: 'acct_2', scope: 'edge-r/e', expected: '1', found: '0' }],
  },
  dead_letter_open: {
    sql: `INSERT INTO dead_letter (digest, topic, partition, "offset", request_id, unit, reason, value, created_at)
         VALUES ('planted', 'gateway.usage.v1', 0, '0', 'req_dead', 0, 'planted', '{}', now())`,
    found: [{ kind: 'dead_letter_open', account: null, scope: 'req_dead/0', expected: '0', found: '1' }],
    stays: true,
  },
  version_moved_back: {
    sql: "UPDATE account SET version = 0 WHERE id = 'acct_1'",
    found: [{ kind: 'version_moved_back', account: 'acct_1', expected: '2', found: '0' }],
  },
  price_differs: {
    sql: `UPDATE usage_event SET usage = '{"requests": 3}' WHERE seq = 1`,
    found: [{ kind: 'price_differs', account: 'acct_1', expected: '0.75', found: '0.25' }],
    stays: true,
  },
  slot_differs: {
    sql: "UPDATE usage_slot SET requests = requests + 1 WHERE account_id = 'acct_2'",
    found: [{ kind: 'slot_differs', account: 'acct_2', scope: expect.stringMatching(/^key_2 .*Z$/) }],
  },
  tag_missing: {
    sql: `UPDATE spend_window SET (tags_from, tags_to) = (SELECT date_bin('15 minutes', min(created_at), '2000-01-01T00:00:00Z'),
        max(created_at) + interval '15 minutes' FROM usage_event);
      UPDATE usage_event SET request_tags = '{"team": "a"}' WHERE account_id = 'acct_2'`,
    found: [
      {
        kind: 'tag_missing',
        account: 'acct_2',
        scope: expect.stringMatching(/Z$/),
        expected: '2',
        found: '0',
      },
    ],
  },
  tag_sum_differs: {
    sql: `INSERT INTO usage_tag_day SELECT account_id, date_trunc('day', created_at, 'UTC'), 0, 0, '{}', '{}' FROM usage_event
        WHERE account_id = 'acct_2';
      UPDATE usage_event SET request_tags = '{"team": "a"}' WHERE account_id = 'acct_2'`,
    found: [
      {
        kind: 'tag_sum_differs',
        account: 'acct_2',
        expected: expect.stringMatching(/^1 .* 2$/),
        found: '0 0 0 0 0',
      },
    ],
  },
  owed_differs: {
    sql: "UPDATE provider_slot SET amount = amount + 1; INSERT INTO provider_slot VALUES ('gone', '2026-11-01T00:15Z', 3)",
    found: [
      {
        kind: 'owed_differs',
        account: null,
        scope: 'provider:gone 2026-11-01T00:15Z',
        expected: '0',
        found: '3',
      },
      {
        kind: 'owed_differs',
        account: null,
        scope: expect.stringMatching(/^provider:hosty .*Z$/),
        expected: '0.0215',
        found: '1.0215',
      },
    ],
  },
  payment_differs: {
    sql: `INSERT INTO payment (id, account_id, kind, state, amount, currency, provider, created_at, updated_at)
         VALUES ('pay_1', 'acct_1', 'card_top_up', 'succeeded', 5, 'USD', 'stripe', now(), now())`,
    found: [{ kind: 'payment_differs', account: 'acct_1', scope: 'pay_1', expected: '5', found: '0' }],
    stays: true,
  },
};
