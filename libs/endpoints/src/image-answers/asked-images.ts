import {
  filled,
  imagesContext,
  type ImageOperation,
  type ImagesRequest,
  type Picture,
} from '@gateway/dialects';
import { membersAsWritten } from '@gateway/json-body';
import type { Asked } from '../endpoint.js';

/** A request of either endpoint of images: what its upstream gets, and what is done with the answer. */
export interface AskedImages extends ImagesRequest {
  /** Pixels over which an answer fades into the original beyond the mask; null leaves the answer as it is. */
  readonly feather: number | null;
  /** Form in which an image is returned; null: both ways. */
  readonly format: 'url' | 'b64_json' | null;
}

type Given = Pick<AskedImages, 'operation'> & Partial<AskedImages>;

/** The members that stand in the request's own fields, by their names in a body. */
const OWN = ['model', 'prompt', 'n', 'response_format', 'stream', 'partial_images'];
const OWN_OF_EDITS = ['operation', 'upscale_factor', 'mask_feather', 'aspect_ratio'];

export function askedImages(
  members: Readonly<Record<string, unknown>>,
  serves: Asked['serves'],
  given: Given,
): Asked<AskedImages> {
  const request = requestOf(members, given);
  const { images, references, mask, n, context, operation } = request;
  const pictures: readonly Picture[] = [...images, ...references];
  return {
    model: filled(members.model),
    stream: false,
    tier: 'default',
    endUser: filled(members.safety_identifier) ?? filled(members.user),
    serves,
    // Also what reserves the rate of image tokens for the output.
    requires: [{ output: 'image', param: 'model', what: 'images as output' }],
    dialect: 'images',
    input: {
      inputBytes: Buffer.byteLength(request.prompt),
      inputImages: pictures.length + (mask === null ? 0 : 1),
    },
    billableUnits: { images: n, ...(pictures.length > 0 && { input_images: pictures.length }) },
    maxOutputTokens: null,
    choices: n,
    writesCache: false,
    context: operation === 'generate' ? context : { ...context, operation },
    request,
  };
}

function requestOf(members: Readonly<Record<string, unknown>>, given: Given): AskedImages {
  const { operation, upscaleFactor } = given;
  const isOwn = (name: string): boolean =>
    OWN.includes(name) || (operation !== 'generate' && OWN_OF_EDITS.includes(name));
  const asked = imagesContext(members);
  const context = {
    ...asked,
    ...(operation !== 'generate' && { operation: operation satisfies ImageOperation }),
    ...(upscaleFactor && { upscale_factor: `x${upscaleFactor}` }),
  };
  return {
    prompt: filled(members.prompt) ?? '',
    n: typeof members.n === 'number' ? members.n : 1,
    images: [],
    references: [],
    mask: null,
    margins: null,
    upscaleFactor: null,
    aspectRatio: filled(members.aspect_ratio),
    options: membersAsWritten(members, isOwn),
    body: null,
    feather: null,
    format: (filled(members.response_format) as AskedImages['format']) ?? null,
    ...given,
    context,
  };
}
