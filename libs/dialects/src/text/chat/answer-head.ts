import type { ModelEvent } from '../model-event.js';
import type { TextFacts } from '../text-dialect.js';

export type StartEvent = Extract<ModelEvent, { type: 'start' }>;

/** What stands beside the choices of an answer, and on every chunk of a stream alike (wire-formats 1.4, S2). */
export interface AnswerHead {
  id: string;
  created: number;
  model: string;
  service_tier: string;
  system_fingerprint: string;
}

/** `model` is the catalogue id and never the provider's own name of it. */
export function answerHead(start: StartEvent | null, facts: TextFacts): AnswerHead {
  const tier = start?.serviceTier ?? facts.tier;
  return {
    // An id of the messages dialect would be no id of a chat completion.
    id: start?.id == null || start.id.startsWith('msg_') ? facts.answerId : start.id,
    created: start?.created ?? facts.created,
    model: facts.model,
    // Anthropic calls its default tier by another name.
    service_tier: tier === 'standard' ? 'default' : tier,
    // The field is a string: a provider that names no configuration has an empty one.
    system_fingerprint: start?.systemFingerprint ?? '',
  };
}
