import type { UpstreamBody } from './upstream-body.js';
import type {
  Answer,
  AnswerFacts,
  AnswerFailure,
  AnswerHead,
  Exchange,
  Piece,
  Translation,
} from './translation.js';

export const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8' } as const;

export interface WholeTranslation {
  /** Called once, when the body is first read. */
  encode: () => UpstreamBody;
  /** Decodes the whole body of an answer, exactly once; never throws. */
  decode: (bytes: Uint8Array, facts: AnswerFacts, head: AnswerHead) => Piece;
}

/** A translation whose JSON answer is read whole and gives one piece: embeddings, images and the like. */
export function wholeTranslation({ encode, decode }: WholeTranslation): Translation {
  let request: UpstreamBody | null = null;
  const encoded = (): UpstreamBody => (request ??= encode());
  return {
    get request() {
      return encoded();
    },
    prepare: () => void encoded(),
    ignored: [],
    begin: (head, facts): Answer => ({
      isWhole: true,
      headers: JSON_HEADERS,
      push: (bytes) => [decode(bytes, facts, head)],
      end: () => [],
      fail: () => null,
    }),
  };
}

/** An answer whose one piece is there already. */
export function wholeAnswer(headers: Answer['headers']): Answer {
  return { isWhole: true, headers, push: () => [], end: () => [], fail: () => null };
}

/** A translation whose answer takes more than one call. */
export function exchangeTranslation(exchange: Exchange, ignored: readonly string[] = []): Translation {
  return {
    get request(): UpstreamBody {
      throw new TypeError('an exchange makes its own requests');
    },
    ignored,
    exchange,
    begin: () => {
      throw new TypeError('an exchange has no answer of one call');
    },
  };
}

export function failurePiece(failure: AnswerFailure): Piece {
  return { kind: 'failure', out: '', failure };
}

/** The bytes are no answer of the dialect. */
export function badAnswer(message: string): Piece {
  return failurePiece({ kind: 'bad_response', body: null, status: null, message });
}

/** The provider reported an error in an event of its stream; "" where it gave no message. */
export function inBandPiece(body: unknown, message: string): Piece {
  return failurePiece({
    kind: 'in_band',
    body,
    status: null,
    message: message || 'the provider reported an error.',
  });
}
