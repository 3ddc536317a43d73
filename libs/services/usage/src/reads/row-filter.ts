import type { UsageEventsBody, UsageFilter } from '@gateway/contracts';
import { timesOf, type Times } from '@gateway/platform';
import type { View } from './view.js';

/** Columns that usage_event, usage_slot and rejection have alike. */
type ScopeColumn = 'account_id' | 'org_id' | 'key_id' | 'team_id' | 'member_id' | 'endpoint';

/** Columns of usage_event and, but for the last, of usage_slot. */
type EventColumn = ScopeColumn | 'model' | 'status' | 'outcome' | 'requested_model';

/** Filter of events, and of a series, which reads events for a name that was asked for: nothing is added up by it. */
export type EventFilter = UsageFilter & Pick<UsageEventsBody, 'requested_model'>;

/** A row matches where its column is any of these. */
export interface Condition<Column extends string = EventColumn> {
  column: Column;
  anyOf: readonly string[];
}

/** A request tag that rows carry; `value` null takes any. */
export interface Tag {
  name: string;
  value: string | null;
}

/** The events that a read covers. */
export interface Listed {
  conditions: readonly Condition[];
  times: Times;
  tag: Tag | null;
}

/** Throws as `timesOf` does. */
export function listedBy(view: View, filter: EventFilter): Listed {
  return { conditions: eventRows(view, filter), times: timesOf(filter), tag: tagOf(filter) };
}

/** The rows of a view. */
export function viewRows(view: View): Condition<ScopeColumn>[] {
  const account = is('account_id', view.accountId);
  if (view.kind === 'key') return [account, is('key_id', view.keyId)];
  if (view.kind === 'person') return [account];
  const org = [account, is('org_id', view.orgId)];
  return view.kind === 'member' ? [...org, is('member_id', view.userId)] : org;
}

/** The view's rows of these people and this endpoint. Filters narrow a view; those of people are ignored for keys. */
export function filteredRows(view: View, filter: UsageFilter): Condition<ScopeColumn>[] {
  const people = view.kind === 'key' ? [] : peopleOf(filter);
  return [...viewRows(view), ...people, ...some('endpoint', filter.endpoint)];
}

export function eventRows(view: View, filter: EventFilter): Condition[] {
  const { model, status, outcome, requested_model: asked } = filter;
  const lists = [...some('model', model), ...some('status', status), ...some('outcome', outcome)];
  return [...filteredRows(view, filter), ...lists, ...some('requested_model', asked)];
}

/** True for a filter by the name that was asked for: events alone know it, and an index of theirs has it. */
export function isByAskedName(conditions: readonly Condition[]): boolean {
  return conditions.some(({ column }) => column === 'requested_model');
}

/** Returns what the index of those names holds for; nothing for other filters. */
export function askedNameSql(conditions: readonly Condition[]): string[] {
  return isByAskedName(conditions) ? ['requested_model <> model'] : [];
}

/** Returns the conditions as Prisma takes them. A list, because several conditions may be about one column. */
export function allOf<Column extends string>(
  conditions: readonly Condition<Column>[],
): Partial<Record<Column, { in: string[] }>>[] {
  return conditions.map(({ column, anyOf }) => ({ [column]: { in: [...anyOf] } })) as Partial<
    Record<Column, { in: string[] }>
  >[];
}

/** `name=value`, or `name` for any value. */
export function tagOf({ tag }: UsageFilter): Tag | null {
  if (!tag) return null;
  const at = tag.indexOf('=');
  return at < 0 ? { name: tag, value: null } : { name: tag.slice(0, at), value: tag.slice(at + 1) };
}

function peopleOf({ team_id, member_id, user_id, key_id }: UsageFilter): Condition<ScopeColumn>[] {
  return [
    ...some('team_id', team_id),
    ...some('member_id', member_id),
    ...some('member_id', user_id),
    ...some('key_id', key_id),
  ];
}

function is<Column extends string>(column: Column, value: string): Condition<Column> {
  return { column, anyOf: [value] };
}

function some<Column extends string>(
  column: Column,
  asked: string | readonly string[] | null | undefined,
): Condition<Column>[] {
  if (asked === null || asked === undefined) return [];
  return [{ column, anyOf: [asked].flat() }];
}
