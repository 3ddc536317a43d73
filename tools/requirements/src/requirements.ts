/** One testable line of the specification, as listed in docs/requirements.tsv. */
export interface Requirement {
  id: string;
  slice: string;
}

/** The requirements that test titles carry. */
export interface Coverage {
  /** Requirements of each slice, in the order of the list. */
  slices: { slice: string; carried: string[]; missing: string[] }[];
  /** Ids in titles that no requirement has: a typing error, or a line that was renamed. */
  unknown: { id: string; path: string }[];
}

const header = 'id\tsection\trequirement\thome\tslice';
const idPattern = /^[A-Z][A-Z0-9]*-\d+[a-z]?$/;

/** Reads the list; throws on a line that is not a requirement and on an id given twice. */
export function parseRequirements(tsv: string): Requirement[] {
  const [first, ...rows] = tsv.split('\n').filter((line) => line !== '');
  if (first !== header) throw new Error(`The list begins with "${first}", not with "${header}".`);
  const seen = new Set<string>();
  return rows.map((row) => {
    const cells = row.split('\t');
    const [id, , , , slice] = cells;
    if (cells.length !== 5 || !idPattern.test(id) || slice === '')
      throw new Error(`Not a requirement: ${row}`);
    if (seen.has(id)) throw new Error(`${id} is listed twice.`);
    seen.add(id);
    return { id, slice };
  });
}

/**
 * Parses the list of what must be complete: names of slices, single ids, and families such as `MSG-*`; `#` begins a
 * comment.
 */
export function parseHeld(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.replace(/#.*/, '').trim())
    .filter((line) => line !== '');
}

/** Compares the ids that titles begin with against the list. */
export function cover(requirements: Requirement[], titleIds: { id: string; path: string }[]): Coverage {
  const known = new Set(requirements.map(({ id }) => id));
  const carried = new Set(titleIds.map(({ id }) => id));
  const slices = [...new Set(requirements.map(({ slice }) => slice))].map((slice) => {
    const ids = requirements.filter((requirement) => requirement.slice === slice).map(({ id }) => id);
    return {
      slice,
      carried: ids.filter((id) => carried.has(id)),
      missing: ids.filter((id) => !carried.has(id)),
    };
  });
  return { slices, unknown: titleIds.filter(({ id }) => !known.has(id)) };
}

/** The ids that something in `held` demands and no title carries; throws on an entry that names nothing. */
export function missingHeld(requirements: Requirement[], coverage: Coverage, held: string[]): string[] {
  const missing = new Set(coverage.slices.flatMap((slice) => slice.missing));
  const demanded = held.flatMap((entry) => {
    const ids = requirements.filter((requirement) => isMeant(entry, requirement)).map(({ id }) => id);
    if (ids.length === 0) throw new Error(`"${entry}" in the held list names no slice and no requirement.`);
    return ids;
  });
  return [...new Set(demanded)].filter((id) => missing.has(id));
}

function isMeant(entry: string, { id, slice }: Requirement): boolean {
  return entry === slice || entry === id || (entry.endsWith('-*') && id.startsWith(entry.slice(0, -1)));
}
