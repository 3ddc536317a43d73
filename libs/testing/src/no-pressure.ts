const NO_LIMIT = { some: Infinity, all: Infinity };

/** For `bootstrap`: what shares the machine with a spec, or the spec's own memory, is no reason to refuse a request. */
export const NO_PRESSURE = { delayMs: NO_LIMIT, rssBytes: NO_LIMIT, bodyBytes: NO_LIMIT };
