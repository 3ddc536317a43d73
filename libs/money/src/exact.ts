/**
 * Exact rationals for prices: `n / (10^k * r)`, `r` coprime with 10. Most prices end in decimals, so `r` is
 * nearly always 1 and printing needs no division; 1/60 and the ratios of twin rates are what needs `r`.
 */
export interface Exact {
  readonly n: bigint;
  /** Power of ten of the denominator, 0 or more. */
  readonly k: number;
  /** Part of the denominator without its powers of ten, 1 or more. */
  readonly r: bigint;
}

/** `up` rounds away from zero, `half-up` rounds to the nearest and ties away from zero. */
export type Rounding = 'up' | 'half-up';

export const ZERO: Exact = { n: 0n, k: 0, r: 1n };
export const ONE: Exact = { n: 1n, k: 0, r: 1n };

const MONEY_DECIMALS = 12;
const POWERS = Array.from({ length: 96 }, (_, exponent) => 10n ** BigInt(exponent));

export function pow10(exponent: number): bigint {
  return POWERS[exponent] ?? 10n ** BigInt(exponent);
}

/** The arithmetic of every rounding of exact numbers: `n / d` as an integer, `d` above 0. */
function roundDiv(n: bigint, d: bigint, rounding: Rounding): bigint {
  const magnitude = n < 0n ? -n : n;
  const whole = magnitude / d;
  const rest = magnitude % d;
  const carries = rounding === 'up' ? rest > 0n : 2n * rest >= d;
  const rounded = carries ? whole + 1n : whole;
  return n < 0n ? -rounded : rounded;
}

/** The one rounding of a price: half up to 12 decimals, as money text. */
export function moneyText(value: Exact): string {
  return decimalText(roundTo(value, MONEY_DECIMALS, 'half-up'), MONEY_DECIMALS);
}

/** `value` as an integer count of `10^-decimals`, rounded once. */
export function roundTo(value: Exact, decimals: number, rounding: Rounding): bigint {
  if (value.r === 1n && value.k <= decimals) return value.n * pow10(decimals - value.k);
  return roundDiv(value.n * pow10(decimals), pow10(value.k) * value.r, rounding);
}

/** Reads `-?digits(.digits)?`; the caller has checked the form. */
export function fromDecimal(text: string): Exact {
  const point = text.indexOf('.');
  if (point < 0) return { n: BigInt(text), k: 0, r: 1n };
  return { n: BigInt(text.slice(0, point) + text.slice(point + 1)), k: text.length - point - 1, r: 1n };
}

export function fromInteger(value: number | bigint): Exact {
  return { n: BigInt(value), k: 0, r: 1n };
}

/** `n / d` in lowest terms, `d` above 0. */
export function fraction(n: bigint, d: bigint): Exact {
  const divisor = gcd(n < 0n ? -n : n, d);
  let r = d / divisor;
  let twos = 0;
  let fives = 0;
  for (; r % 2n === 0n; r /= 2n) twos++;
  for (; r % 5n === 0n; r /= 5n) fives++;
  const k = Math.max(twos, fives);
  return { n: (n / divisor) * 2n ** BigInt(k - twos) * 5n ** BigInt(k - fives), k, r };
}

export function multiply(a: Exact, b: Exact): Exact {
  return { n: a.n * b.n, k: a.k + b.k, r: a.r * b.r };
}

/** `a / b`, `b` above 0. */
export function divide(a: Exact, b: Exact): Exact {
  return fraction(a.n * pow10(b.k) * b.r, b.n * pow10(a.k) * a.r);
}

export function add(a: Exact, b: Exact): Exact {
  const k = Math.max(a.k, b.k);
  const left = a.n * pow10(k - a.k);
  const right = b.n * pow10(k - b.k);
  if (a.r === b.r) return { n: left + right, k, r: a.r };
  return { n: left * b.r + right * a.r, k, r: a.r * b.r };
}

export function compare(a: Exact, b: Exact): -1 | 0 | 1 {
  const left = a.n * pow10(b.k) * b.r;
  const right = b.n * pow10(a.k) * a.r;
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Returns the largest of values of 0 or more; 0 of none. */
export function largest(values: readonly Exact[]): Exact {
  let best = values.length > 0 ? values[0] : ZERO;
  for (let at = 1; at < values.length; at += 1) if (compare(values[at], best) > 0) best = values[at];
  return best;
}

/** The exact value: a decimal without exponent or trailing zeros, or `n/d` where the decimal does not end. */
export function exactText(value: Exact): string {
  if (value.r === 1n) return decimalText(value.n, value.k);
  const reduced = fraction(value.n, pow10(value.k) * value.r);
  if (reduced.r === 1n) return decimalText(reduced.n, reduced.k);
  const d = pow10(reduced.k) * reduced.r;
  const divisor = gcd(reduced.n < 0n ? -reduced.n : reduced.n, d);
  return `${reduced.n / divisor}/${d / divisor}`;
}

/** The one serialiser: `n * 10^-k` without exponent, trailing zeros and bare point trimmed. */
export function decimalText(n: bigint, k: number): string {
  if (n === 0n) return '0';
  if (k === 0) return n.toString();
  const sign = n < 0n ? '-' : '';
  const digits = (n < 0n ? -n : n).toString().padStart(k + 1, '0');
  const point = digits.length - k;
  let end = digits.length;
  while (end > point && digits.charCodeAt(end - 1) === 48) end--;
  return (
    sign + (end === point ? digits.slice(0, point) : `${digits.slice(0, point)}.${digits.slice(point, end)}`)
  );
}

function gcd(a: bigint, b: bigint): bigint {
  while (b !== 0n) [a, b] = [b, a % b];
  return a === 0n ? 1n : a;
}
