import type { AnswerFailure } from './translation.js';

/** The provider answered, and the answer is a failure. */
export class ExchangeFailure extends Error {
  constructor(readonly failure: AnswerFailure) {
    super(failure.message);
    this.name = 'ExchangeFailure';
  }
}

/** The bytes are no answer of the dialect. */
export function badReply(message: string): ExchangeFailure {
  return new ExchangeFailure({ kind: 'bad_response', body: null, status: null, message });
}

/** The provider ended its work with a failure; `code` and `status` are what its table of failures is asked. */
export function failedReply(code: string, message: string, status: number | null = null): ExchangeFailure {
  return new ExchangeFailure({ kind: 'in_band', body: { error: { code, message } }, status, message });
}
