/** Names under which providers report money (spec, Usage object, rule 3). */
const MONEY = /cost|price|charge|usd|credit/i;
const NAMES_MAX = 1_000;
/** Providers use few names, and each is asked for several times an answer. */
const known = new Map<string, boolean>();

export function namesMoney(key: string): boolean {
  const verdict = known.get(key);
  if (verdict !== undefined) return verdict;
  const found = MONEY.test(key);
  if (known.size < NAMES_MAX && key.length < 64) known.set(key, found);
  return found;
}

/** A copy without any member that names money, however deep. */
export function withoutMoney(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutMoney);
  if (typeof value !== 'object' || value === null) return value;
  const kept: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    // An assignment to __proto__ would change the object's prototype instead.
    if (name !== '__proto__' && !namesMoney(name)) kept[name] = withoutMoney(member);
  }
  return kept;
}
