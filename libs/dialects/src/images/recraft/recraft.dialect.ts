import { Unsupported } from '../../translation/translation.js';
import { jsonBody, JSON_TYPE, type UpstreamBody } from '../../translation/upstream-body.js';
import { unitUsage, type ImagesDialect, type ImagesRequest, type ImagesUpstream } from '../images-dialect.js';
import { pictureForm } from '../picture-form.js';
import type { Picture } from '../picture.js';
import { given, objectIn, promptOf, sentCount } from '../requests.js';
import { picturesIn } from '../tasks.js';

const PATHS: Partial<Record<ImagesRequest['operation'], string>> = {
  generate: '/images/generations',
  inpaint: '/images/inpaint',
  outpaint: '/images/outpaint',
  remove_background: '/images/removeBackground',
  upscale: '/images/crispUpscale',
};
const IMAGES_MAX = 6;

/** Recraft. White is repainted, and only 0 and 255 are taken. */
export const dialect: ImagesDialect = {
  name: 'recraft',
  mask: 'white',
  takesMargins: true,
  takes: ['size', 'style', 'negative_prompt', 'seed'],
  unsupported: ({ operation, n }) => {
    if (PATHS[operation] === undefined) return new Unsupported(null);
    const most = operation === 'remove_background' || operation === 'upscale' ? 1 : IMAGES_MAX;
    return n > most ? new Unsupported('n') : null;
  },
  run: async (request, upstream) => {
    const answer = objectIn(await upstream.calls.send(bodyOf(request, upstream)));
    const found = 'image' in answer ? [answer.image] : answer.data;
    const made = await picturesIn(upstream.calls, found, request.n);
    return {
      images: made.map(({ picture }) => ({ picture })),
      usage: unitUsage(Math.min(made.length, request.n), sentCount(request)),
      context: request.context,
    };
  },
};

function bodyOf(request: ImagesRequest, { target, facts }: ImagesUpstream): UpstreamBody {
  const { operation, images, mask, margins, n, options } = request;
  const path = PATHS[operation] ?? '';
  const { size, style, negative_prompt, seed } = options;
  const asked = { model: target.upstreamModel, n, style, negative_prompt, random_seed: seed };
  const response_format = 'b64_json';
  if (operation === 'generate')
    return jsonBody(path, JSON_TYPE, given({ ...asked, prompt: request.prompt, size, response_format }));
  const pictures: [string, Picture][] = images.map((picture) => ['image', picture]);
  if (mask !== null) pictures.push(['mask', mask]);
  const isTool = operation === 'remove_background' || operation === 'upscale';
  const fields = {
    ...(!isTool && { ...asked, prompt: promptOf(request) }),
    ...(margins && {
      expand_left: margins.left,
      expand_right: margins.right,
      expand_top: margins.up,
      expand_bottom: margins.down,
    }),
    response_format,
  };
  return pictureForm(path, JSON_TYPE, { fields, pictures }, facts);
}
