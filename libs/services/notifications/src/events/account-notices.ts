import { ACCOUNT_EVENT_TYPES, type AccountEvent, type AccountEventType } from '@gateway/contracts';
import type { Notice } from '../rungs/notice.js';

/** Made here alone, from movements and records, for a threshold that a policy names or a rung. */
const MADE_HERE: ReadonlySet<string> = new Set<AccountEventType>([
  'balance.low',
  'balance.depleted',
  'spend_cap.approaching',
  'spend_cap.hit',
  'rate_limit.threshold',
  'provider.fallback',
]);

/** An event that another service has made, as it is. Movements are none. */
export function accountNotices(event: AccountEvent): Notice[] {
  const type = ACCOUNT_EVENT_TYPES.find((name) => name === event.type);
  if (type === undefined || MADE_HERE.has(type) || event.org_id == null) return [];
  return [
    {
      sourceKey: event.id,
      type,
      orgId: event.org_id,
      atMs: Date.parse(event.created_at),
      data: event.data as Notice['data'],
      threshold: null,
      rung: null,
    },
  ];
}
