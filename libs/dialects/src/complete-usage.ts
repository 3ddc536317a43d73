import type { UnitUsage } from '@gateway/contracts';
import type { AnswerFacts } from './dialect.js';

/** The counts of a whole answer: what the provider left out is estimated, never 0. */
export function completeUsage(reported: UnitUsage, facts: AnswerFacts): UnitUsage {
  if (reported.completion_tokens !== undefined) return reported;
  return { ...facts.estimatedUsage?.(), ...reported };
}
