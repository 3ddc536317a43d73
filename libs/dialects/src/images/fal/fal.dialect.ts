import { filled, objectOf, objectsOf, textOf, type JsonObject } from '../../body/json-object.js';
import { polled } from '../../tasks/polled.js';
import { badReply, failedReply } from '../../translation/exchange.js';
import type { RouteTarget } from '../../translation/translation.js';
import { jsonBody, JSON_TYPE, lookAt } from '../../translation/upstream-body.js';
import { unitUsage, type ImagesDialect, type ImagesRequest } from '../images-dialect.js';
import { dataUrlOf } from '../picture.js';
import { given, objectIn, promptOf, ratioOf, sentCount, sizeOf } from '../requests.js';
import { fetched } from '../tasks.js';

const POLL_MS = 500;

/** fal: a queue before every model. The names of images are those that most models share; flags say what one does. */
export const dialect: ImagesDialect = {
  name: 'fal-images',
  mask: 'white',
  takes: ['size', 'aspect_ratio', 'seed', 'negative_prompt', 'output_format'],
  unsupported: () => null,
  run: async (request, { target, calls }) => {
    const { n, context } = request;
    const task = objectIn(
      await calls.send(jsonBody(`/${target.upstreamModel}`, JSON_TYPE, bodyOf(request, target))),
    );
    const [statusUrl, responseUrl] = [filled(task.status_url), filled(task.response_url)];
    if (statusUrl === null || responseUrl === null) throw badReply('the answer names no task.');
    await calls.note(responseUrl);
    await polled(calls, { everyMs: POLL_MS, look: lookAt(statusUrl), read: isDone });
    const answer = objectIn(await calls.send(lookAt(responseUrl)));
    const found = 'image' in answer ? [objectOf(answer.image)] : objectsOf(answer.images);
    if (found.length === 0) throw badReply('the answer holds no image.');
    // No more are fetched than were asked for: an answer may name any number.
    const made = await Promise.all(found.slice(0, n).map(({ url }) => fetched(calls, url)));
    return {
      images: made.map((picture) => ({ picture })),
      usage: unitUsage(made.length, sentCount(request)),
      context,
    };
  },
};

function bodyOf(request: ImagesRequest, { upstreamModel }: RouteTarget): JsonObject {
  const { images, references, mask, n, options, upscaleFactor } = request;
  const urls = [...images, ...references].map(dataUrlOf);
  const size = sizeOf(options);
  const ratio = ratioOf(request);
  // Kontext and ultra name their formats; the others their pixels.
  const isNamed = request.aspectRatio !== null || /kontext|ultra/.test(upstreamModel);
  return given({
    prompt: promptOf(request) || undefined,
    negative_prompt: options.negative_prompt,
    image_url: urls.length === 1 ? urls[0] : undefined,
    image_urls: urls.length > 1 ? urls : undefined,
    mask_url: mask && dataUrlOf(mask),
    num_images: n > 1 ? n : undefined,
    upscale_factor: upscaleFactor,
    aspect_ratio: isNamed ? ratio : undefined,
    image_size: isNamed ? undefined : size,
    seed: options.seed,
    output_format: options.output_format,
  });
}

/** Null: it is still at work. */
function isDone({ status, error }: JsonObject): true | null {
  if (filled(error) !== null) throw failedReply('server_error', textOf(error), 500);
  return status === 'COMPLETED' ? true : null;
}
