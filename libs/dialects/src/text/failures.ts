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

/** The HTTP status that a host says as its code; null where it is none of a failure. */
export function errorStatus(code: unknown): number | null {
  return typeof code === 'number' && Number.isInteger(code) && code >= 400 && code <= 599 ? code : null;
}
