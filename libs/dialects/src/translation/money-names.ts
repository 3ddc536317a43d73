import { spelledLike, withoutHidden } from '@gateway/json-body';

/**
 * Names under which providers report money, whole: a member that only speaks of it, such as
 * `audio_recharge_tokens` or `price_level_note`, is not one. In snake case.
 */
const MONEY =
  /^(?:cost|costs|cost_.*|.*_costs?|.*_cost_.*|price|prices|.*_price|charged?|charges|charge_.*|charged_.*|.*_charges?|credits?|credits_.*|.*_credits|usd|usd_.*|.*_usd|.*_usd_.*)$/s;
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

/** A repeated member is shown as it came, so nothing in its text may be named so. */
function namesNoMoney(text: string): boolean {
  for (const [, name] of text.matchAll(/"((?:[^"\\]|\\.)*)"\s*:/g)) if (namesMoney(name)) return false;
  return true;
}

const NONE: ReadonlySet<string> = new Set();

/**
 * The value without any member that names money, however deep; members of the names `whole` are not looked into. The
 * same value where there is none, which a frame of a stream can then be sent as it came for.
 */
export function withoutMoney(value: unknown, whole: ReadonlySet<string> = NONE): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    let items: unknown[] | null = null;
    for (let at = 0; at < value.length; at += 1) {
      const item: unknown = value[at];
      const shown = withoutMoney(item, whole);
      if (shown !== item) items ??= [...(value as unknown[])];
      if (items !== null) items[at] = shown;
    }
    return items === null ? value : spelledLike(items, value);
  }
  const given = withoutHidden(value as Record<string, unknown>, namesNoMoney);
  let copy: Record<string, unknown> | null = null;
  for (const name in given) {
    const member = given[name];
    const isGone = name === '__proto__' || namesMoney(name);
    const shown = isGone || whole.has(name) ? member : withoutMoney(member, whole);
    if (!isGone && shown === member) continue;
    copy ??= { ...given };
    if (isGone) delete copy[name];
    else copy[name] = shown;
  }
  return copy ?? given;
}
