export const COMPARED_MAX = 4;

/** Models that a URL names for comparison, each once. */
export function comparedIds(text: string | undefined): string[] {
  const ids = (text ?? '').split(',').filter((id) => /^[^/]+\/[^/]+$/.test(id));
  return [...new Set(ids)].slice(0, COMPARED_MAX);
}

/** Returns the list with the model added or, where it is there, removed; no more than can be compared. */
export function toggled(ids: readonly string[], id: string): string[] {
  return ids.includes(id) ? ids.filter((one) => one !== id) : [...ids, id].slice(0, COMPARED_MAX);
}

const FLAG = 'supports_';

/** Returns the abilities of a model, in words. */
export function flagsOf(model: object): string[] {
  return Object.entries(model).flatMap(([field, value]) =>
    field.startsWith(FLAG) && value === true ? [field.slice(FLAG.length).replaceAll('_', ' ')] : [],
  );
}
