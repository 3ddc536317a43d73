import { filled } from '../../body/json-object.js';
import { Unsupported } from '../../translation/translation.js';
import { JSON_TYPE } from '../../translation/upstream-body.js';
import { unitUsage, type ImagesDialect, type ImagesRequest } from '../images-dialect.js';
import { pictureForm } from '../picture-form.js';
import type { Picture } from '../picture.js';
import { objectIn, promptOf, ratioOf, sentCount, someOf } from '../requests.js';
import { fetched, moderated } from '../tasks.js';

const SERVICES: Partial<Record<ImagesRequest['operation'], string>> = {
  generate: 'generate',
  edit: 'remix',
  inpaint: 'inpaint',
  reframe: 'reframe',
};
/** Resolution for each ratio, one of its many. */
const RESOLUTIONS: Readonly<Record<string, string>> = {
  '1:1': '1024x1024',
  '3:4': '864x1152',
  '4:3': '1152x864',
  '9:16': '736x1312',
  '16:9': '1312x736',
  '2:3': '832x1248',
  '3:2': '1248x832',
};
const SPEEDS: ReadonlyMap<string, string> = new Map(
  Object.entries({ low: 'TURBO', medium: 'DEFAULT', high: 'QUALITY' }),
);
const IMAGES_MAX = 8;

/** Ideogram 3.0: results wait at addresses. Black is repainted. */
export const dialect: ImagesDialect = {
  name: 'ideogram',
  mask: 'black',
  takes: ['size', 'aspect_ratio', 'quality', 'negative_prompt', 'seed', 'style'],
  unsupported: (request) => {
    const { operation, n, mask } = request;
    if (SERVICES[operation] === undefined) return new Unsupported(null);
    if (operation === 'edit' && mask !== null) return new Unsupported('mask');
    if (sentCount(request) > 1) return new Unsupported('image');
    return n > IMAGES_MAX ? new Unsupported('n') : null;
  },
  run: async (request, { target, calls, facts }) => {
    const { operation, images, mask, n, options, context } = request;
    const quality = filled(context.quality) ?? 'medium';
    const ratio = ratioOf(request);
    const fields = {
      ...(operation !== 'reframe' && { prompt: promptOf(request), negative_prompt: options.negative_prompt }),
      ...(operation === 'reframe' && { resolution: RESOLUTIONS[ratio ?? '1:1'] }),
      ...((operation === 'generate' || operation === 'edit') && { aspect_ratio: ratio?.replace(':', 'x') }),
      num_images: n,
      rendering_speed: SPEEDS.get(quality) ?? 'DEFAULT',
      seed: options.seed,
    };
    const pictures: [string, Picture][] = images.map((picture) => ['image', picture]);
    if (mask !== null) pictures.push(['mask', mask]);
    const path = `/v1/${target.upstreamModel}/${SERVICES[operation]}`;
    const answer = objectIn(await calls.send(pictureForm(path, JSON_TYPE, { fields, pictures }, facts)));
    const safe = someOf(answer.data).filter(({ is_image_safe }) => is_image_safe !== false);
    if (safe.length === 0) throw moderated('');
    // No more are fetched than were asked for: an answer may name any number.
    const made = await Promise.all(safe.slice(0, n).map(({ url }) => fetched(calls, url)));
    return {
      images: made.map((picture) => ({ picture })),
      usage: unitUsage(made.length, images.length),
      context: { ...context, quality: SPEEDS.has(quality) ? quality : 'medium' },
    };
  },
};
