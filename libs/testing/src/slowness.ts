/**
 * Factor by which the machine that runs the suite may be slower than a quiet one. Each bound of a wait is a quiet
 * machine's, times this; a wait ends as soon as it is over, so a generous bound costs nothing.
 */
export const SLOWNESS = 5;
