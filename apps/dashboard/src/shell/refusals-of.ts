import type { Schemas } from '../api/schemas.js';

type Rejection = Schemas['RejectionView'];

/** Refusals of one key for one reason. */
interface Refused {
  newest: Rejection;
  times: number;
}

/** Returns refusals by key and reason, that of the newest first: five equal lines say no more than one. */
export function refusalsOf(rejections: readonly Rejection[]): Refused[] {
  const groups = new Map<string, Refused>();
  for (const one of rejections) {
    const name = [one.key_id, one.code, one.scope, one.limit_type, one.model].join('\n');
    const group = groups.get(name);
    groups.set(name, { newest: group?.newest ?? one, times: (group?.times ?? 0) + one.count });
  }
  return [...groups.values()];
}
