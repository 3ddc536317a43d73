import type { ReasoningStyle } from '@gateway/contracts';

/** Where nothing says how a model is asked to reason: one that thinks takes an effort, as most servers of OpenAI's format do. */
export function reasoningOf(supports: readonly string[], given?: ReasoningStyle): ReasoningStyle {
  return given ?? { style: supports.includes('thinking') ? 'effort' : 'none' };
}
