/**
 * How many times slower than a quiet one a machine may be that runs the suite. Each bound of a wait is a quiet machine's,
 * times this; a wait ends as soon as it is over, so a generous bound costs nothing.
 */
export const SLOWNESS = 5;
