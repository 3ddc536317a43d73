/** Every difference that the proof knows, and what it means. */
export const DIFFERENCES = {
  unit_without_event: 'A finished unit of a journal, behind the watermark, has no event.',
  journal_range_skipped:
    'Bytes of a journal segment hold no frame: what stood there is lost, the rest was read.',
  unit_lost:
    'The limit store held this amount for a unit that is past its lease and has no event: its record may be lost.',
  units_unnamed: 'More units of the account lapsed without an event than the limit store keeps names of.',
  intent_without_event: 'A unit was admitted an hour ago or more and has neither outcome nor event.',
  dead_letter_open:
    'A record could not be applied, and no operator has had it applied or closed it: its unit is not billed.',
  row_missing: 'Numbers of a producer were applied, their events or rejections are gone.',
  price_differs: 'An event costs another amount than its own usage and terms give.',
  window_differs: 'An event names another price window than the one that held when its provider was called.',
  event_without_transfer: 'Events cost money that no transfer moved.',
  transfer_without_event: 'A usage transfer has no events.',
  transfer_differs: 'A usage transfer with its corrections is not the sum of its events.',
  house_differs: 'What failed attempts cost is not what the platform has paid.',
  unbilled_differs: 'What an account used while billing was off is not what the platform has paid for it.',
  account_differs: 'A balance is not the sum of its transfers.',
  books_unbalanced: 'The balances of all accounts do not add up to nothing.',
  total_differs: 'The spend of a scope is not the sum of its events.',
  lapsed_differs: 'The part of a spend that is older than the window is not the sum of those events.',
  hour_differs: 'The spend of a scope in an hour is not the sum of its events.',
  slot_differs: 'What the series of usage add up in a quarter of an hour is not the sum of its events.',
  tag_missing:
    'Events of a quarter of an hour carry tags that are not noted there: a filter by one does not find them.',
  tag_sum_differs: 'What a day adds up to by tags is not the sum of its events.',
  owed_differs: 'What the platform owes a provider for a quarter of an hour is not the sum of its events.',
  payment_differs: 'A payment that succeeded and its transfer are not the same amount.',
  event_not_applied: 'An event is in, its sequence number is not among those applied.',
  producer_silent:
    'A process with a journal did not drain and has not been heard of for 10 minutes: nobody has shipped the rest.',
  sequence_gap: 'Sequence numbers of a producer are missing below its newest.',
  mirror_differs: 'The limit store has another posted amount than PostgreSQL holds.',
  version_moved_back:
    'The limit store has a later version of the account than PostgreSQL has: the ledger is an older one.',
  reservation_phantom: 'The limit store holds money in reserve for an account that has no unit in flight.',
  unposted_differs: 'What the limit store holds as unposted is not what the journals have left to post.',
  unit_held: 'The limit store still holds a unit past its end though it is posted.',
} as const;

export type DifferenceKind = keyof typeof DIFFERENCES;

/** One difference by name. Amounts are decimal strings of USD; counts are counts; windows are their names. */
export interface Finding {
  kind: DifferenceKind;
  /** null where it is of no one account. */
  account: string | null;
  /** `<scope>:<id>`, a transfer, a producer's epoch or a unit; null for the account as a whole. */
  scope: string | null;
  expected: string;
  found: string;
}

/** Sums that must be equal, for all customers together. Decimal strings of USD. */
export interface Sums {
  costs: string;
  usage_transfers: string;
  /** Amount by which customers' balances fell, credits not counted. */
  balances_fell: string;
  spend_totals: string;
  spend_hours: string;
}

/** Names a finding, so that a later look at the same one is recognised. */
export function findingName({ kind, account, scope }: Finding): string {
  return `${kind}\n${account}\n${scope}`;
}
