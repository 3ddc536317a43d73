const AMOUNT = /^(-?)(\d+)(?:\.(\d+))?$/;
/** Digits behind the point of an amount. */
const AMOUNT_DIGITS = 12;

/**
 * A decimal string of dollars to so many decimals, rounded half up, with thousands apart. It is never made a number:
 * the gateway counts to 12 decimals. More than nothing never shows as nothing.
 */
export function formatUsd(amount: string, decimals = 2): string {
  const [, sign, whole, fraction = ''] = AMOUNT.exec(amount) ?? [];
  if (whole === undefined) return amount;
  const kept = fraction.slice(0, decimals).padEnd(decimals, '0');
  const scaled = BigInt(whole + kept) + (fraction[decimals] >= '5' ? 1n : 0n);
  const isZero = scaled === 0n;
  if (isZero && /[1-9]/.test(whole + fraction)) {
    return `${sign}<$${decimals === 0 ? '1' : `0.${'0'.repeat(decimals - 1)}1`}`;
  }
  const digits = scaled.toString().padStart(decimals + 1, '0');
  const integer = digits.slice(0, digits.length - decimals).replace(/\B(?=(\d{3})+$)/g, ',');
  const shownSign = isZero ? '' : sign;
  return `${shownSign}$${integer}${decimals === 0 ? '' : `.${digits.slice(-decimals)}`}`;
}

/** Digits of a price from its first one on. */
const PRICE_DIGITS = 4;
const SUM_DECIMALS = 2;

/** A price or the cost of one request: four digits from the first that is not 0 on, and never less than cents. */
export function formatPrice(amount: string): string {
  const [, , whole, fraction = ''] = AMOUNT.exec(amount) ?? [];
  if (whole === undefined) return amount;
  const zeros = fraction.search(/[1-9]/);
  const ofFraction = zeros < 0 ? SUM_DECIMALS : zeros + PRICE_DIGITS;
  const decimals = Number(whole) === 0 ? ofFraction : PRICE_DIGITS - whole.length;
  return withoutZeros(formatUsd(amount, Math.min(Math.max(SUM_DECIMALS, decimals), AMOUNT_DIGITS)));
}

/** All digits of an amount. */
export function exactUsd(amount: string): string {
  return withoutZeros(formatUsd(amount, AMOUNT_DIGITS));
}

/** Leaves out the last zeros behind the cents. */
function withoutZeros(shown: string): string {
  return shown.replace(/(\.\d{2}\d*?)0+$/, '$1');
}

/**
 * Returns how many times an amount contains another: a ratio is no money, and may be a float. Null where the other is
 * nothing.
 */
export function usdRatio(amount: string, other: string): number | null {
  const times = Number.parseFloat(amount) / Number.parseFloat(other);
  return Number.isFinite(times) ? times : null;
}

/** Digits behind the point of a factor. */
const FACTOR_DIGITS = 6;

/** Returns an estimate: an amount times a factor of at most 6 decimals, cut to 12 decimals. What is no amount stays as it is. */
export function scaleUsd(amount: string, factor: number): string {
  const [, sign, whole, fraction = ''] = AMOUNT.exec(amount) ?? [];
  if (whole === undefined) return amount;
  const pico = BigInt(whole + fraction.slice(0, AMOUNT_DIGITS).padEnd(AMOUNT_DIGITS, '0'));
  const times = BigInt(Math.round(factor * 10 ** FACTOR_DIGITS));
  const digits = ((pico * times) / 10n ** BigInt(FACTOR_DIGITS)).toString().padStart(AMOUNT_DIGITS + 1, '0');
  return `${sign}${digits.slice(0, -AMOUNT_DIGITS)}.${digits.slice(-AMOUNT_DIGITS)}`;
}
