import type { RejectionRecord, SpendScope } from '@gateway/contracts';
import { scopeFields, type Notice, type Repetition } from './notice.js';

/** A cap that stays reached is reported again after a day. */
const AGAIN_MS = 86_400_000;
const SCOPES: readonly string[] = [
  'key',
  'team_member',
  'member',
  'team',
  'org',
  'tag',
  'end_user',
] satisfies SpendScope[];

/** Returns the notices of a reached cap; a rejection by reservations alone makes none. */
export function rejectionNotices(record: RejectionRecord): Notice[] {
  const { org_id, scope, scope_id, cap_usd, spent_usd } = record;
  if (org_id == null || !isScope(scope) || scope_id == null || cap_usd == null || spent_usd == null)
    return [];
  const atMs = Date.parse(record.created_at);
  const { budget_id = null } = record;
  const name = `spend_cap.hit/${scope}/${scope_id}${budget_id === null ? '' : `/${budget_id}`}`;
  return [
    {
      sourceKey: `${name}/${record.request_id}`,
      type: 'spend_cap.hit',
      orgId: org_id,
      atMs,
      data: { ...scopeFields(scope, scope_id), cap_usd, spent_usd, budget_id },
      threshold: null,
      repetition: oncePerCap(name, atMs, cap_usd),
    },
  ];
}

/** Refusals of one cap are reported once; another cap is another wall. */
function oncePerCap(name: string, atMs: number, cap: string): Repetition {
  return {
    name,
    step: (last) => {
      const isNew =
        last === null || (atMs > last.atMs && (last.detail !== cap || atMs >= last.atMs + AGAIN_MS));
      return isNew ? { state: { atMs, detail: cap }, isNotified: true } : null;
    },
  };
}

function isScope(scope: string | null | undefined): scope is SpendScope {
  return scope != null && SCOPES.includes(scope);
}
