import type { ParsedBody } from '@gateway/json-body';
import type { AnswerFacts, Piece, RouteTarget } from '../translation/translation.js';
import type { UpstreamBody } from '../translation/upstream-body.js';

/** What an upstream that judges texts and images speaks. */
export interface ModerationsDialect {
  /** As the routes of the catalogue name it. */
  readonly name: string;
  /** Of the caller's own body: `input` is a text, a list of texts, or a list of text and image parts. */
  encode(body: ParsedBody, target: RouteTarget): UpstreamBody;
  /** Of the whole answer, which has to judge each input; never throws. */
  decode(bytes: Uint8Array, facts: AnswerFacts, inputs: number): Piece;
}
