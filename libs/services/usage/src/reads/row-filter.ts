import { ApiError, type UsageFilterBody } from '@gateway/contracts';
import type { View } from './view.js';

const BARE_DATE = /^\d{4}-\d{2}-\d{2}$/;
const HAS_OFFSET = /(?:Z|[+-]\d{2}(?::?\d{2})?)$/i;
const DAY_MS = 86_400_000;

/** Conditions on the columns that usage_event and rejection have alike. */
export interface RowConditions {
  account_id?: string;
  org_id?: string;
  key_id?: string;
  team_id?: string;
  member_id?: string;
  created_at?: { gte?: Date; lt?: Date };
}

/** The rows of a view. */
export function viewRows(view: View): RowConditions {
  const { accountId: account_id } = view;
  if (view.kind === 'key') return { account_id, key_id: view.keyId };
  const { orgId: org_id } = view;
  return view.kind === 'member' ? { account_id, org_id, member_id: view.userId } : { account_id, org_id };
}

/** The view's rows of these people and times. `member_id` and `team_id` are ignored for keys. */
export function filteredRows(view: View, filter: UsageFilterBody): { AND: RowConditions[] } {
  // A list, because a filter narrows the view: a member's own member_id is never replaced by the one asked for.
  const people = view.kind === 'key' ? {} : peopleOf(filter);
  return { AND: [viewRows(view), people, timesOf(filter)] };
}

function peopleOf({ team_id, member_id }: UsageFilterBody): RowConditions {
  return { ...(team_id ? { team_id } : {}), ...(member_id ? { member_id } : {}) };
}

function timesOf({ since, until }: UsageFilterBody): RowConditions {
  const from = since ? firstMoment(since) : null;
  const before = until ? momentAfter(until) : null;
  // Each is well-formed, so this is no fault of the schema; an empty answer would hide that the two were swapped.
  if (from !== null && before !== null && from >= before)
    throw new ApiError('bad_request', { message: 'since lies after until.', param: 'since' });
  return { created_at: { ...(from && { gte: from }), ...(before && { lt: before }) } };
}

/** A bare date begins at its midnight UTC; a time without an offset is UTC. */
function firstMoment(text: string): Date {
  return new Date(inUtc(text));
}

/** The first moment that is not covered any more: the next midnight after a bare date, else one millisecond on. */
function momentAfter(text: string): Date {
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
