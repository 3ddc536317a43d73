const FIGURE = /^-?\d+(?:\.\d+)?$/;

/**
 * Returns the number typed into a field, for a body. What is no number goes as the text that it is, and the gateway
 * rejects it at its field: NaN would be sent as null, which takes a limit away.
 */
export function figureOf(text: string): number {
  const typed = text.trim();
  return FIGURE.test(typed) ? Number(typed) : (typed as unknown as number);
}
