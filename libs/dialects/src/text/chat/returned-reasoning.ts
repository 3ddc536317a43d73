import type { JsonObject } from '../../body/json-object.js';
import { hasCalls } from '../earlier-reasoning.js';
import type { Part, Turn } from '../model-request.js';
import type { Quirks } from '../../translation/translation.js';

/** The member in which the provider wants the reasoning of an earlier turn; null where it wants none of this turn. */
export function returnedText(
  text: string,
  hasCalls: boolean,
  { returnsReasoning, returnsAllReasoning = false }: Quirks,
): JsonObject | null {
  switch (returnsReasoning) {
    case undefined:
      return null;
    case 'reasoning_content':
      return hasCalls || returnsAllReasoning ? { reasoning_content: text } : null;
    case 'both':
      return { reasoning: text, reasoning_content: text };
    case 'text_details':
      return { reasoning_details: [{ type: 'reasoning.text', text, index: 0 }] };
    case 'reasoning':
    case 'reasoning_details':
      return { reasoning: text };
  }
}

/**
 * Returns the test for reasoning of an earlier turn that this provider is sent; `isSpliced`: the caller's own details
 * go on as they came.
 */
export function isReturned(quirks: Quirks, isSpliced: boolean) {
  const takesDetails =
    quirks.returnsReasoning === 'reasoning_details' || quirks.returnsReasoning === 'text_details';
  return ({ type }: Part, turn: Turn): boolean => {
    if (isSpliced && takesDetails) return true;
    return type === 'reasoning' && returnedText('', hasCalls(turn), quirks) !== null;
  };
}
