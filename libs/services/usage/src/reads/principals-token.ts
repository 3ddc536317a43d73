/** Nest token of `() => PrincipalReader`: asked on first use, because its module may be made after this one. */
export const PRINCIPALS = Symbol('() => PrincipalReader');
