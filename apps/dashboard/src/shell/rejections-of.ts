import type { Schemas } from '../api/schemas.js';

type Rejection = Schemas['RejectionView'];

/** Rejections of one key for one reason. */
interface Rejected {
  newest: Rejection;
  times: number;
}

/** Returns rejections by key and reason, that of the newest first: five equal lines say no more than one. */
export function rejectionsOf(rejections: readonly Rejection[]): Rejected[] {
  const groups = new Map<string, Rejected>();
  for (const one of rejections) {
    const name = [one.key_id, one.code, one.scope, one.limit_type, one.model].join('\n');
    const group = groups.get(name);
    groups.set(name, { newest: group?.newest ?? one, times: (group?.times ?? 0) + one.count });
  }
  return [...groups.values()];
}
