/** Nest token of `() => Funds`: asked on first use, because the ledger's module may be made after this one. */
export const FUNDS = Symbol('() => Funds');
