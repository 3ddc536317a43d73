import type { UnitName } from './projection.store.js';

/** `<request_id>/<n>`; null for anything else. */
export function unitName(unit: string): UnitName | null {
  const slash = unit.lastIndexOf('/');
  const n = Number(unit.slice(slash + 1));
  return slash > 0 && Number.isSafeInteger(n) && n >= 0 && n < 2 ** 31
    ? { requestId: unit.slice(0, slash), unit: n }
    : null;
}
