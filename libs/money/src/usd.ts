import { decimalText, fromDecimal, pow10, roundDiv, roundTo } from './exact.js';
import type { Exact, Rounding } from './exact.js';

const DECIMALS = 12;
const NANO_DECIMALS = 9;
const MONEY = /^-?\d{1,20}(\.\d{1,12})?$/;

/**
 * An immutable amount of US dollars, exact to 12 decimals.
 *
 * On every wire it is a decimal string (`0.1`, `12`, `0`): no exponent, no trailing zeros, never a JSON number.
 */
export class Usd {
  static readonly zero = new Usd(0n);

  private constructor(private readonly pico: bigint) {}

  /** Reads `-?\d{1,20}(\.\d{1,12})?`. Anything else, a JSON number too, throws RangeError. */
  static parse(text: string): Usd {
    // Callers hand in parsed JSON now and then: a number has lost digits already and must not pass.
    if (typeof text !== 'string' || !MONEY.test(text)) throw new RangeError('not a money string');
    return new Usd(roundTo(fromDecimal(text), DECIMALS, 'half-up'));
  }

  /** Whether `parse` takes the value. */
  static isMoney(value: unknown): value is string {
    return typeof value === 'string' && MONEY.test(value);
  }

  static fromNano(nano: bigint): Usd {
    return new Usd(nano * pow10(DECIMALS - NANO_DECIMALS));
  }

  /** Rounds an exact price, half up, once, to 12 decimals. */
  static fromExact(value: Exact): Usd {
    return new Usd(roundTo(value, DECIMALS, 'half-up'));
  }

  static sum(amounts: Iterable<Usd>): Usd {
    let pico = 0n;
    for (const amount of amounts) pico += amount.pico;
    return new Usd(pico);
  }

  plus(other: Usd): Usd {
    return new Usd(this.pico + other.pico);
  }

  minus(other: Usd): Usd {
    return new Usd(this.pico - other.pico);
  }

  neg(): Usd {
    return new Usd(-this.pico);
  }

  compare(other: Usd): -1 | 0 | 1 {
    return this.pico < other.pico ? -1 : this.pico > other.pico ? 1 : 0;
  }

  equals(other: Usd): boolean {
    return this.pico === other.pico;
  }

  isNegative(): boolean {
    return this.pico < 0n;
  }

  isZero(): boolean {
    return this.pico === 0n;
  }

  /** Integer nano-USD. `up` is away from zero, `half-up` to the nearest with ties away from zero. */
  toNano(rounding: Rounding): bigint {
    return roundDiv(this.pico, pow10(DECIMALS - NANO_DECIMALS), rounding);
  }

  toString(): string {
    return decimalText(this.pico, DECIMALS);
  }

  toJSON(): string {
    return this.toString();
  }
}

/** What a finished unit's cost is in integer nano-USD: half up. */
export function settledNano(costUsd: string): bigint {
  return Usd.parse(costUsd).toNano('half-up');
}
