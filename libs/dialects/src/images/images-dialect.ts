import type { UnitUsage } from '@gateway/contracts';
import type { ParsedBody } from '@gateway/json-body';
import type { JsonObject } from '../body/json-object.js';
import type {
  AnswerFacts,
  Unsupported,
  ResultContext,
  RouteTarget,
  UpstreamCalls,
} from '../translation/translation.js';
import type { MadePicture, Picture } from './picture.js';

export type ImageOperation =
  'generate' | 'edit' | 'remove_background' | 'upscale' | 'outpaint' | 'mix' | 'reframe' | 'inpaint';

/** An upstream's mark for the area of a mask that it repaints. */
export type MaskConvention = 'white' | 'black' | 'transparent';

/** The format of an upstream that makes or edits images. */
export interface ImagesDialect {
  /** Name that the catalogue's routes use for it. */
  readonly name: string;
  /** Absent: it takes none. */
  readonly mask?: MaskConvention;
  /** Caller's further members that it has a word for; others are reported as ignored. Absent: all. */
  readonly takes?: readonly string[];
  /** It extends by margins around the picture, not by a mask over an extended one. */
  readonly takesMargins?: true;
  /** Null: it can serve the request. `Unsupported(null)`: it has no call for the operation. */
  unsupported(request: ImagesRequest, target: RouteTarget): Unsupported | null;
  /** The whole of it. Throws ExchangeFailure for an answer that is none. */
  run(request: ImagesRequest, upstream: ImagesUpstream): Promise<MadeImages>;
}

export interface ImagesUpstream {
  readonly target: RouteTarget;
  readonly calls: UpstreamCalls;
  readonly facts: AnswerFacts;
}

/** A request for images, checked. Masks and margins are in the convention of the dialect that gets it. */
export interface ImagesRequest {
  readonly operation: ImageOperation;
  /** "" where none was given. */
  readonly prompt: string;
  /** Number of requested images. */
  readonly n: number;
  /** Images to edit; the first is the one that mask and margins belong to. */
  readonly images: readonly Picture[];
  readonly references: readonly Picture[];
  readonly mask: Picture | null;
  readonly margins: Margins | null;
  readonly upscaleFactor: 2 | 4 | null;
  readonly aspectRatio: string | null;
  /** Every other member of the caller's request, in OpenAI's words: size, quality, seed and so on. */
  readonly options: JsonObject;
  /** A generation's own body, for an upstream of the same format. */
  readonly body: ParsedBody | null;
  /** Size, quality and so on as asked for; what is left to the model is left out. */
  readonly context: ResultContext;
}

/** Pixels that are added on each side. */
export interface Margins {
  readonly left: number;
  readonly right: number;
  readonly up: number;
  readonly down: number;
}

export interface MadeImages {
  /** Images, at least one. `members` are shown beside it. */
  readonly images: readonly { readonly picture: MadePicture; readonly members?: JsonObject }[];
  /** Members of the answer as a whole; without money. */
  readonly members?: JsonObject;
  readonly usage: UnitUsage;
  /** Bytes that an estimate of the output counts where its tokens were not reported. */
  readonly deliveredBytes?: number;
  /** Context of the result, where the provider reports other than was requested. */
  readonly context?: ResultContext;
}

/** Members of a request and of an answer that a price may depend on. */
const IMAGES_CONTEXT = [
  'size',
  'quality',
  'background',
  'output_format',
  'resolution',
  'aspect_ratio',
] as const;

const VALUE_LENGTH_MAX = 64;

/** Returns the members' facts of an image. `auto` and null leave it to the model, so they say nothing. */
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

/** Returns the counts of an upstream that bills by the image: no tokens, so none is estimated. */
export function unitUsage(images: number, sent: number): UnitUsage {
  return { images, ...(sent > 0 && { input_images: sent }), prompt_tokens: 0, completion_tokens: 0 };
}
