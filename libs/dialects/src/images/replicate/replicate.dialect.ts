import { filled, objectOf, textOf, type JsonObject } from '../../body/json-object.js';
import { polled } from '../../tasks/polled.js';
import { badReply, failedReply } from '../../translation/exchange.js';
import { Unsupported } from '../../translation/translation.js';
import { jsonBody, JSON_TYPE, lookAt } from '../../translation/upstream-body.js';
import { unitUsage, type ImagesDialect, type ImagesRequest } from '../images-dialect.js';
import { dataUrlOf } from '../picture.js';
import { given, objectIn, promptOf, ratioOf, sentCount } from '../requests.js';
import { fetched, moderated } from '../tasks.js';

const POLL_MS = 1_000;
/** Header that keeps the first call open for a result, in seconds. */
const WAIT = 'wait=10';

/** Replicate: a prediction for each request, looked at where its answer says. */
export const dialect: ImagesDialect = {
  name: 'replicate-images',
  mask: 'white',
  takes: ['size', 'aspect_ratio', 'seed', 'output_format'],
  unsupported: (request) => {
    if (sentCount(request) > 1) return new Unsupported('image');
    return request.n > 1 ? new Unsupported('n') : null;
  },
  run: async (request, { target, calls }) => {
    const path = `/models/${target.upstreamModel}/predictions`;
    const body = jsonBody(path, JSON_TYPE, { input: inputOf(request, target.upstreamModel) });
    const prediction = objectIn(await calls.send({ ...body, headers: { prefer: WAIT } }));
    const look = filled(objectOf(prediction.urls).get);
    if (look === null) throw badReply('the answer names no task.');
    await calls.note(look);
    const url =
      outputOf(prediction) ?? (await polled(calls, { everyMs: POLL_MS, look: lookAt(look), read: outputOf }));
    return {
      images: [{ picture: await fetched(calls, url) }],
      usage: unitUsage(1, sentCount(request)),
      context: request.context,
    };
  },
};

function inputOf(request: ImagesRequest, model: string): JsonObject {
  const { images, references, mask, options, upscaleFactor } = request;
  const [picture] = [...images, ...references].map(dataUrlOf);
  return given({
    prompt: promptOf(request) || undefined,
    [model.includes('kontext') ? 'input_image' : 'image']: picture,
    mask: mask && dataUrlOf(mask),
    aspect_ratio: ratioOf(request),
    scale: upscaleFactor,
    seed: options.seed,
    output_format: options.output_format === 'jpeg' ? 'jpg' : options.output_format,
  });
}

/** Null: it is still at work. */
function outputOf({ status, output, error }: JsonObject): string | null {
  if (status === 'failed' || status === 'canceled' || status === 'aborted') {
    const reason = textOf(error);
    throw /nsfw|sensitive|moderat|flagged/i.test(reason)
      ? moderated(reason)
      : failedReply('server_error', reason || `the task was ${status}.`, 500);
  }
  if (status !== 'succeeded') return null;
  const url = filled(Array.isArray(output) ? output[0] : output);
  if (url === null) throw badReply('the answer holds no image.');
  return url;
}
