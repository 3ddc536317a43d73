/**
 * Names under which providers report money (spec, Usage object, rule 3), whole: a member that only speaks of it, such as
 * `audio_recharge_tokens` or `price_level_note`, is not one. In snake case.
 */
const MONEY =
  /^(?:cost|costs|cost_.*|.*_costs?|.*_cost_.*|price|prices|.*_price|charged?|charges|charge_.*|charged_.*|.*_charges?|credits?|credits_.*|.*_credits|usd|usd_.*|.*_usd|.*_usd_.*)$/;
const TOKEN_COUNT = /_tokens$/;
const NAMES_MAX = 1_000;
/** Providers use few names, and each is asked for several times an answer. */
const known = new Map<string, boolean>();

export function namesMoney(key: string): boolean {
  const verdict = known.get(key);
  if (verdict !== undefined) return verdict;
  const name = key.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();
  const found = MONEY.test(name) && !TOKEN_COUNT.test(name);
  if (known.size < NAMES_MAX && key.length < 64) known.set(key, found);
  return found;
}

const NONE: ReadonlySet<string> = new Set();

/** A copy without any member that names money, however deep; members of the names `whole` are not looked into. */
export function withoutMoney(value: unknown, whole: ReadonlySet<string> = NONE): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutMoney(item, whole));
  if (typeof value !== 'object' || value === null) return value;
  const kept: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    // An assignment to __proto__ would change the object's prototype instead.
    if (name !== '__proto__' && !namesMoney(name))
      kept[name] = whole.has(name) ? member : withoutMoney(member, whole);
  }
  return kept;
}
