import { ApiError, type UsageFilterBody } from '@gateway/contracts';
import type { View } from './view.js';

/** A WHERE clause with its values. */
export interface RowFilter {
  sql: string;
  values: unknown[];
}

const BARE_DATE = /^\d{4}-\d{2}-\d{2}$/;
const HAS_OFFSET = /(?:Z|[+-]\d{2}(?::?\d{2})?)$/i;
const DAY_MS = 86_400_000;

/** Builds one condition after another with numbered values. */
export class Conditions {
  private readonly parts: string[] = [];
  private readonly values: unknown[] = [];

  /** `$` in the text stands for the value. */
  add(text: string, value: unknown): this {
    this.values.push(value);
    this.parts.push(text.replace('$', `$${this.values.length}`));
    return this;
  }

  filter(): RowFilter {
    return { sql: this.parts.join(' AND '), values: [...this.values] };
  }
}

/** The rows of a view. */
export function viewConditions(view: View): Conditions {
  const conditions = new Conditions().add('account_id = $', view.accountId);
  if (view.kind === 'key') return conditions.add('key_id = $', view.keyId);
  conditions.add('org_id = $', view.orgId);
  return view.kind === 'member' ? conditions.add('member_id = $', view.userId) : conditions;
}

/** The view's rows that the filter names. `member_id` and `team_id` are ignored for keys. */
export function usageFilter(view: View, filter: UsageFilterBody): RowFilter {
  const conditions = viewConditions(view);
  addTimes(conditions, filter);
  if (filter.model) conditions.add('model = ANY($::text[])', filter.model);
  if (filter.status) conditions.add('status = ANY($::text[])', filter.status);
  addPeople(conditions, view, filter);
  return conditions.filter();
}

export function addPeople(conditions: Conditions, view: View, filter: UsageFilterBody): void {
  if (view.kind === 'key') return;
  if (filter.team_id) conditions.add('team_id = $', filter.team_id);
  if (filter.member_id) conditions.add('member_id = $', filter.member_id);
}

export function addTimes(conditions: Conditions, { since, until }: UsageFilterBody): void {
  const from = since ? firstMoment(since) : null;
  const before = until ? momentAfter(until) : null;
  // Each is well-formed, so this is no fault of the schema; an empty answer would hide that the two were swapped.
  if (from !== null && before !== null && from >= before)
    throw new ApiError('bad_request', { message: 'since lies after until.', param: 'since' });
  if (from !== null) conditions.add('created_at >= $', from);
  if (before !== null) conditions.add('created_at < $', before);
}

/** A bare date begins at its midnight UTC; a time without an offset is UTC. */
export function firstMoment(text: string): Date {
  return new Date(inUtc(text));
}

/** The first moment that is not covered any more: the next midnight after a bare date, else one millisecond on. */
export function momentAfter(text: string): Date {
  return new Date(inUtc(text) + (BARE_DATE.test(text) ? DAY_MS : 1));
}

function inUtc(text: string): number {
  const at = Date.parse(BARE_DATE.test(text) || HAS_OFFSET.test(text) ? text : `${text}Z`);
  // Forms of ISO 8601 that JavaScript does not read, such as week dates.
  if (!Number.isFinite(at)) {
    const msg = 'Give a date such as 2026-11-21 or a time such as 2026-11-21T10:00:00Z.';
    throw new ApiError('validation_error', {
      message: msg,
      details: [{ type: 'time', loc: ['since'], msg }],
    });
  }
  return at;
}
