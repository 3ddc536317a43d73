import type { ParsedBody } from '../body/parsed-body.js';
import type { AnswerFacts, Piece, ResultContext, RouteTarget } from '../translation/translation.js';
import type { UpstreamBody } from '../translation/upstream-body.js';

/** What an upstream that makes images of a prompt speaks. */
export interface ImagesDialect {
  /** As the routes of the catalogue name it. */
  readonly name: string;
  encode(request: ImagesRequest, target: RouteTarget): UpstreamBody;
  /** Of the whole answer; never throws. */
  decode(bytes: Uint8Array, request: ImagesRequest, facts: AnswerFacts): Piece;
}

/** A request for images, checked. */
export interface ImagesRequest {
  /** The caller's own body, in OpenAI's format. */
  readonly body: ParsedBody;
  /** How many images were asked for. */
  readonly n: number;
  /** Size, quality and so on as asked for; what is left to the model is left out. */
  readonly context: ResultContext;
}

/** Members of a request and of an answer that a price may depend on. */
const IMAGES_CONTEXT = ['size', 'quality', 'background', 'output_format'] as const;

const VALUE_LENGTH_MAX = 64;

/** What the members say of an image. `auto` and null leave it to the model, so they say nothing. */
export function imagesContext(members: Readonly<Record<string, unknown>>): ResultContext {
  const context: Record<string, string> = {};
  for (const name of IMAGES_CONTEXT) {
    const value = members[name];
    // The context goes into the usage record, so its size is bounded.
    if (typeof value === 'string' && value !== '' && value !== 'auto' && value.length <= VALUE_LENGTH_MAX)
      context[name] = value;
  }
  return context;
}
