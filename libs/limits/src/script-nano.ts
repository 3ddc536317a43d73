/** Largest magnitude of money that a limit store holds: 2^53 - 1 nano-USD, 9,007,199.254740991 USD. */
export const MAX_NANO = Number.MAX_SAFE_INTEGER;

/**
 * Money as the limit stores hold it. Redis' Lua knows only doubles, so integers are exact to 2^53 - 1 nano-USD.
 *
 * Every amount is clamped there, and always towards refusing. Spend, reservations and costs past the bound count
 * as the bound. So do a cap or a credit limit past it: a scope that has spent 9,007,199 USD is refused whatever its cap
 * says. A balance past it is the bound. An account that trades beyond it takes its caps off and
 * has unlimited credit. What is in flight at once holds the bound together, because a sum past it would not come back
 * to 0. The ledger stays exact.
 */
export function toScriptNano(nano: bigint): number {
  if (nano > BigInt(MAX_NANO)) return MAX_NANO;
  if (nano < -BigInt(MAX_NANO)) return -MAX_NANO;
  return Number(nano);
}

/** A cap, a credit limit or a count limit as the stores compare it: null is unlimited. */
export function toScriptLimit(nano: bigint | null): number {
  return nano === null ? Infinity : toScriptNano(nano);
}
