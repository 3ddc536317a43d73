const NO_LIMIT = { some: Infinity, all: Infinity };

/**
 * Limits for `bootstrap` that never refuse: other programs on the machine, or the spec's own memory, are no reason to.
 */
export const NO_PRESSURE = { delayMs: NO_LIMIT, rssBytes: NO_LIMIT, bodyBytes: NO_LIMIT };
