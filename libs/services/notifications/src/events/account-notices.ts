import { ACCOUNT_EVENT_TYPES, MADE_OF_OTHERS, type AccountEvent } from '@gateway/contracts';
import type { Notice } from '../notices/notice.js';

/** An event that another service has made, as it is. Movements are none. */
export function accountNotices(event: AccountEvent): Notice[] {
  const type = ACCOUNT_EVENT_TYPES.find((name) => name === event.type);
  if (type === undefined || MADE_OF_OTHERS.has(type) || event.org_id == null) return [];
  return [
    {
      sourceKey: event.id,
      type,
      orgId: event.org_id,
      atMs: Date.parse(event.created_at),
      data: event.data as Notice['data'],
      threshold: null,
      repetition: null,
    },
  ];
}
