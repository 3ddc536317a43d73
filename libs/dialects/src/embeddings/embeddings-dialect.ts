import type { ParsedBody } from '@gateway/json-body';
import type { AnswerFacts, AnswerHead, Piece, RouteTarget } from '../translation/translation.js';
import type { UpstreamBody } from '../translation/upstream-body.js';

/** A request for embeddings in the middle form. */
export interface EmbeddingsRequest {
  /** Texts, or lists of token ids; answered in this order. */
  inputs: readonly (string | readonly number[])[];
  /** Form in which the caller reads vectors: numbers, or base64 of 32-bit floats, little endian. */
  format: 'float' | 'base64';
  dimensions: number | null;
  /** Body of the caller; never changed. */
  body: ParsedBody;
}

/** The format of an upstream that makes embeddings. */
export interface EmbeddingsDialect {
  /** Name that the catalogue's routes use for it. */
  readonly name: string;
  /** The parameter that this format, or the provider in it, cannot carry; null for none. */
  unsupported(request: EmbeddingsRequest, target: RouteTarget): string | null;
  encode(request: EmbeddingsRequest, target: RouteTarget): UpstreamBody;
  /** Decodes the whole answer, as OpenAI's list of embeddings; never throws. */
  decode(bytes: Uint8Array, request: EmbeddingsRequest, facts: AnswerFacts, head?: AnswerHead): Piece;
}
