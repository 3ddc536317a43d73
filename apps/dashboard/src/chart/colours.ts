/** Hues of data. The accent and the colours of states are for actions and states alone. */
const HUES = ['indigo', 'orange', 'teal', 'grape', 'cyan', 'pink', 'lime', 'violet'];
const SHADES = [6, 8, 4];
const PLACES = HUES.length * SHADES.length;
const REST = 'var(--mantine-color-gray-5)';

/** Colour of what is drawn alone. */
export const DATA = 'var(--mantine-color-teal-6)';

/**
 * Returns the colour of each group, which its id alone decides: it stays the same in another range and at another rank.
 * Two ids of one colour in a chart differ all the same: the later one in the alphabet takes the next free place.
 */
export function coloursOf(ids: readonly string[]): Map<string, string> {
  const taken = new Set<number>();
  const colours = new Map<string, string>();
  for (const id of [...ids].sort()) {
    if (id === 'other') {
      colours.set(id, REST);
      continue;
    }
    let place = placeOf(id);
    for (let tried = 1; tried < PLACES && taken.has(place); tried += 1) place = (place + 1) % PLACES;
    taken.add(place);
    const shade = SHADES[Math.floor(place / HUES.length)];
    colours.set(id, `var(--mantine-color-${HUES[place % HUES.length]}-${shade})`);
  }
  return colours;
}

/** Returns a place by FNV-1a, which spreads ids that differ in their last character alone. */
function placeOf(id: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < id.length; at += 1) hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193);
  return (hash >>> 0) % PLACES;
}
