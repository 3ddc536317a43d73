import type { ErrorDetail } from '@gateway/contracts';

const ENTRIES_MAX = 30;
const CHARS_MAX = 4_000;
const NAME = /^[a-z][a-z_]{0,39}$/;

/** Returns the faults of what a view shows: parameters of an address are few, short and text. */
export function searchFaults(search: Record<string, unknown> | undefined): ErrorDetail[] {
  const entries = Object.entries(search ?? {});
  if (entries.length > ENTRIES_MAX) return [fault(`search has at most ${ENTRIES_MAX} parameters`)];
  if (!entries.every(([name, value]) => NAME.test(name) && typeof value === 'string'))
    return [fault('search must have texts under names of small letters and _')];
  const chars = entries.reduce((sum, [name, value]) => sum + name.length + String(value).length, 0);
  return chars > CHARS_MAX ? [fault(`search has at most ${CHARS_MAX} characters`)] : [];
}

function fault(msg: string): ErrorDetail {
  return { type: 'value_error', loc: ['search'], msg };
}
