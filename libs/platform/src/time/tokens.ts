/** Nest tokens of the ports that are interfaces. */
export const CLOCK = Symbol('Clock');
export const RANDOM = Symbol('Random');
