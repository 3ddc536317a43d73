import type { AnswerFailure } from '../translation/translation.js';

/** The provider's bytes are no answer of the format. */
export function badResponse(message: string): AnswerFailure {
  return { kind: 'bad_response', body: null, status: null, message };
}

/** The provider closed before its answer was whole. */
export const CUT_SHORT: AnswerFailure = {
  kind: 'connection',
  body: null,
  status: null,
  message: 'The stream ended before the answer was complete.',
};
