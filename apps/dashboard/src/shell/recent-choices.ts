import type { Choice } from './palette.queries.js';

const KEPT_MAX = 5;
const NAME = 'palette-recent';

/** Returns what was opened last in an organization, the newest first; nothing where the browser keeps nothing. */
export function recentChoices(place: () => Pick<Storage, 'getItem'>, org: string): Choice[] {
  try {
    const kept: unknown = JSON.parse(place().getItem(`${NAME} ${org}`) ?? '[]');
    return Array.isArray(kept) ? kept.filter(isChoice).slice(0, KEPT_MAX) : [];
  } catch {
    return [];
  }
}

/** Keeps a choice as the newest. A browser that keeps nothing loses it. */
export function keepChoice(place: () => Storage, org: string, choice: Choice): void {
  try {
    const others = recentChoices(place, org).filter(({ id }) => id !== choice.id);
    place().setItem(`${NAME} ${org}`, JSON.stringify([choice, ...others].slice(0, KEPT_MAX)));
  } catch {
    // Storage is off or full.
  }
}

function isChoice(kept: unknown): kept is Choice {
  const { id, label, hint, path } = (kept ?? {}) as Record<string, unknown>;
  return [id, label, hint, path].every((member) => typeof member === 'string');
}
