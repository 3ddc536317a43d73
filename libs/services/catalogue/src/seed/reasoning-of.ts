import type { ReasoningStyle } from '@gateway/contracts';

/**
 * Returns the reasoning style where none is given: a model that reasons takes an effort, as most servers of OpenAI's
 * format do.
 */
export function reasoningOf(supports: readonly string[], given?: ReasoningStyle): ReasoningStyle {
  return given ?? { style: supports.includes('thinking') ? 'effort' : 'none' };
}
