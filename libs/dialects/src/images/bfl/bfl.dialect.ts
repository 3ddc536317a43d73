import { filled, objectOf, textOf, type JsonObject } from '../../body/json-object.js';
import { polled } from '../../tasks/polled.js';
import { badReply, failedReply } from '../../translation/exchange.js';
import { Unsupported } from '../../translation/translation.js';
import { jsonBody, JSON_TYPE, lookAt } from '../../translation/upstream-body.js';
import { unitUsage, type ImagesDialect, type ImagesRequest } from '../images-dialect.js';
import { base64Of } from '../picture.js';
import { given, objectIn, promptOf, ratioOf, sentCount, sizeOf } from '../requests.js';
import { fetched, moderated } from '../tasks.js';

const POLL_MS = 500;
const PICTURES_MAX = 10;

/** Black Forest Labs: a task for each image, whose own address is looked at. White is repainted, by the fill models. */
export const dialect: ImagesDialect = {
  name: 'bfl',
  mask: 'white',
  takes: ['size', 'aspect_ratio', 'seed', 'output_format'],
  unsupported: (request, { upstreamModel }) => {
    const { operation, mask, n } = request;
    const fills = operation === 'inpaint' || operation === 'outpaint';
    if (isFill(upstreamModel) !== fills) return new Unsupported(null);
    if (!fills && !['generate', 'edit', 'mix'].includes(operation)) return new Unsupported(null);
    if (!fills && mask !== null) return new Unsupported('mask');
    if (sentCount(request) > PICTURES_MAX) return new Unsupported('image');
    return n > 1 ? new Unsupported('n') : null;
  },
  run: async (request, { target, calls }) => {
    const { upstreamModel } = target;
    const body = given({
      ...bodyOf(request, upstreamModel),
      prompt: promptOf(request),
      seed: request.options.seed,
    });
    const task = objectIn(await calls.send(jsonBody(`/v1/${upstreamModel}`, JSON_TYPE, body)));
    const url = filled(task.polling_url);
    if (url === null) throw badReply('the answer names no task.');
    await calls.note(url);
    const sample = await polled(calls, { everyMs: POLL_MS, look: lookAt(url), read: sampleIn });
    return {
      images: [{ picture: await fetched(calls, sample) }],
      usage: unitUsage(1, sentCount(request)),
      context: request.context,
    };
  },
};

function isFill(model: string): boolean {
  return model.includes('fill');
}

function bodyOf(request: ImagesRequest, model: string): JsonObject {
  const { images, references, mask, options } = request;
  const output_format = options.output_format === 'png' ? 'png' : 'jpeg';
  if (isFill(model)) return { image: base64Of(images[0]), mask: mask && base64Of(mask), output_format };
  const sent = [...images, ...references].map(base64Of);
  const inputs = sent.map((picture, at) => [at === 0 ? 'input_image' : `input_image_${at + 1}`, picture]);
  // These models name their formats; the others their pixels.
  const named = /kontext|ultra/.test(model);
  const format = named ? { aspect_ratio: ratioOf(request) } : { ...sizeOf(options) };
  return { ...(Object.fromEntries(inputs) as JsonObject), ...format, output_format };
}

/** Null: it is still at work. */
function sampleIn({ status, result, details }: JsonObject): string | null {
  switch (status) {
    case 'Ready':
      return filled(objectOf(result).sample) ?? noSample();
    case 'Request Moderated':
    case 'Content Moderated':
      throw moderated(textOf(status));
    case 'Error':
    case 'Failed':
    case 'Task not found':
      throw failedReply('server_error', textOf(objectOf(details).message) || textOf(status), 500);
    default:
      return null;
  }
}

function noSample(): never {
  throw badReply('the answer holds no image.');
}
