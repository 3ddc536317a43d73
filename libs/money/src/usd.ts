import { Decimal } from 'decimal.js';
import { fromDecimal, roundTo, type Rounding } from './exact.js';

const NANO_DECIMALS = 9;
const MONEY = /^-?\d{1,20}(\.\d{1,12})?$/;

/**
 * decimal.js with settings of its own, which nothing else can change. An amount has 20 digits before the point and 12
 * behind it: sums of 10^60 of them stay below the precision, so nothing here is rounded but by `toNano` and `settledNano`.
 */
const Amount = Decimal.clone({ precision: 100, toExpNeg: -100, toExpPos: 100, defaults: true });
const ROUNDING = { up: Decimal.ROUND_UP, 'half-up': Decimal.ROUND_HALF_UP } as const;

/**
 * An immutable amount of US dollars, exact to 12 decimals: the type of every amount that crosses a boundary.
 *
 * On every wire it is a decimal string (`0.1`, `12`, `0`): no exponent, no trailing zeros, never a JSON number.
 */
export class Usd {
  static readonly zero = new Usd(new Amount(0));

  private constructor(private readonly amount: Decimal) {}

  /** Reads `-?\d{1,20}(\.\d{1,12})?`. Anything else, a JSON number too, throws RangeError. */
  static parse(text: string): Usd {
    // Callers hand in parsed JSON now and then: a number has lost digits already and must not pass.
    if (!Usd.isMoney(text)) throw new RangeError('not a money string');
    return new Usd(new Amount(text));
  }

  /** True if `parse` takes the value. */
  static isMoney(value: unknown): value is string {
    return typeof value === 'string' && MONEY.test(value);
  }

  static fromNano(nano: bigint): Usd {
    return new Usd(new Amount(`${nano}e-${NANO_DECIMALS}`));
  }

  static sum(amounts: Iterable<Usd>): Usd {
    let sum = Usd.zero.amount;
    for (const { amount } of amounts) sum = sum.plus(amount);
    return new Usd(sum);
  }

  plus(other: Usd): Usd {
    return new Usd(this.amount.plus(other.amount));
  }

  minus(other: Usd): Usd {
    return new Usd(this.amount.minus(other.amount));
  }

  neg(): Usd {
    return new Usd(this.amount.neg());
  }

  compare(other: Usd): -1 | 0 | 1 {
    const order = this.amount.comparedTo(other.amount);
    return order < 0 ? -1 : order > 0 ? 1 : 0;
  }

  equals(other: Usd): boolean {
    return this.amount.equals(other.amount);
  }

  isNegative(): boolean {
    return this.amount.lessThan(0);
  }

  isPositive(): boolean {
    return this.amount.greaterThan(0);
  }

  isZero(): boolean {
    return this.amount.isZero();
  }

  /** Integer nano-USD. `up` is away from zero, `half-up` to the nearest with ties away from zero. */
  toNano(rounding: Rounding): bigint {
    return BigInt(this.amount.times(`1e${NANO_DECIMALS}`).toFixed(0, ROUNDING[rounding]));
  }

  toString(): string {
    return this.amount.isZero() ? '0' : this.amount.toFixed();
  }

  toJSON(): string {
    return this.toString();
  }
}

/**
 * Returns a cost, cap or credit limit in integer nano-USD, rounded half up. Uses integers alone, because requests wait
 * for it.
 */
export function settledNano(costUsd: string): bigint {
  if (!Usd.isMoney(costUsd)) throw new RangeError('not a money string');
  return roundTo(fromDecimal(costUsd), NANO_DECIMALS, 'half-up');
}
