import type { ParsedBody } from '@gateway/json-body';
import type { AnswerFacts, Piece, RouteTarget } from '../translation/translation.js';
import type { UpstreamBody } from '../translation/upstream-body.js';

/** The format of an upstream that judges texts and images. */
export interface ModerationsDialect {
  /** Name that the catalogue's routes use for it. */
  readonly name: string;
  /** Encodes the caller's own body: `input` is a text, a list of texts, or a list of text and image parts. */
  encode(body: ParsedBody, target: RouteTarget): UpstreamBody;
  /** Decodes the whole answer, which has to judge each input; never throws. */
  decode(bytes: Uint8Array, facts: AnswerFacts, inputs: number): Piece;
}
