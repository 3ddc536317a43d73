/**
 * Returns the sentence about a member that no field takes. It names the known field that is meant where the words of one
 * name are all among the words of the other: `rpm` for `rpm_limit`, `spend_cap_usd` for `spendCap`.
 */
export function unknownField(name: string, known: Iterable<string> = []): string {
  const wanted = wordsOf(name);
  let meant: { field: string; words: number } | null = null;
  for (const field of known) {
    const words = wordsOf(field);
    const [fewer, more] = words.size < wanted.size ? [words, wanted] : [wanted, words];
    if (fewer.size > (meant?.words ?? 0) && isWithin(fewer, more)) meant = { field, words: fewer.size };
  }
  return meant === null
    ? 'This field is not known.'
    : `This field is not known. Did you mean ${meant.field}?`;
}

/** Returns the words of a name in lower case, in snake case or camel case. */
function wordsOf(name: string): Set<string> {
  return new Set(
    name
      .slice(0, NAME_MAX)
      .split(/[^a-zA-Z0-9]+|(?<=[a-z0-9])(?=[A-Z])/)
      .flatMap(lowerCase),
  );
}

/** Characters of a name that are looked at; no field has more. */
const NAME_MAX = 100;

function isWithin(fewer: ReadonlySet<string>, more: ReadonlySet<string>): boolean {
  return [...fewer].every((word) => more.has(word));
}

function lowerCase(word: string): string[] {
  return word === '' ? [] : [word.toLowerCase()];
}
