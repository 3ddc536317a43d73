import { baseRespFailure } from '../../body/base-resp.js';
import { objectOf, textOf, type JsonObject } from '../../body/json-object.js';
import { badReply, failedReply } from '../../translation/exchange.js';
import { Unsupported } from '../../translation/translation.js';
import { jsonBody, JSON_TYPE } from '../../translation/upstream-body.js';
import { unitUsage, type ImagesDialect, type ImagesRequest } from '../images-dialect.js';
import { base64In } from '../picture.js';
import { given, objectIn, sizeOf } from '../requests.js';

const IMAGES_MAX = 9;
const PROMPT_CHARACTERS_MAX = 1_500;
const RATIOS = ['1:1', '16:9', '4:3', '3:2', '2:3', '3:4', '9:16', '21:9'];
/** Pixels of a side, in steps of 8. */
const SIDE = { least: 512, most: 2_048, step: 8 };

/** MiniMax's images: made of a text, with sizes in pixels or by a ratio. */
export const dialect: ImagesDialect = {
  name: 'minimax-images',
  takes: ['size', 'aspect_ratio', 'seed'],
  unsupported: (request) => {
    const { operation, n, prompt, aspectRatio, options } = request;
    if (operation !== 'generate') return new Unsupported(null);
    if (n > IMAGES_MAX) return new Unsupported('n', String(n));
    if (Array.from(prompt).length > PROMPT_CHARACTERS_MAX)
      return new Unsupported('prompt', undefined, `prompts of more than ${PROMPT_CHARACTERS_MAX} characters`);
    if (aspectRatio !== null)
      return RATIOS.includes(aspectRatio) ? null : new Unsupported('aspect_ratio', aspectRatio);
    const size = sizeOf(options);
    const isMade = size === null || [size.width, size.height].every(isSide);
    return isMade ? null : new Unsupported('size', textOf(options.size));
  },
  run: async (request, { target, calls }) => {
    const body = bodyOf(request, target.upstreamModel);
    const answer = objectIn(await calls.send(jsonBody('/image_generation', JSON_TYPE, body)));
    const failure = baseRespFailure(answer);
    if (failure) throw failedReply(failure.code, failure.message || 'no image was made.', failure.status);
    const { image_base64 } = objectOf(answer.data);
    const made = (Array.isArray(image_base64) ? image_base64 : []).flatMap((image) => base64In(image) ?? []);
    if (made.length === 0) throw badReply('the answer holds no image.');
    return {
      images: made.map((base64) => ({ picture: { base64 } })),
      usage: unitUsage(Math.min(made.length, request.n), 0),
      context: request.context,
    };
  },
};

/** A ratio goes before a size, as with all. */
function bodyOf({ prompt, n, aspectRatio, options }: ImagesRequest, model: string): JsonObject {
  const size = aspectRatio === null ? sizeOf(options) : null;
  return given({
    ...{ model, prompt, n, response_format: 'base64' },
    ...{ aspect_ratio: aspectRatio, width: size?.width, height: size?.height, seed: options.seed },
  });
}

function isSide(pixels: number): boolean {
  return pixels >= SIDE.least && pixels <= SIDE.most && pixels % SIDE.step === 0;
}
