import { filled, objectOf, textOf, type JsonObject } from '../../body/json-object.js';
import { polled } from '../../tasks/polled.js';
import { badReply, failedReply } from '../../translation/exchange.js';
import { Unsupported } from '../../translation/translation.js';
import { jsonBody, JSON_TYPE, lookAtPath } from '../../translation/upstream-body.js';
import { unitUsage, type ImagesDialect, type ImagesRequest, type ImagesUpstream } from '../images-dialect.js';
import { extensionOf, type Picture } from '../picture.js';
import { given, objectIn, promptOf, ratioOf, sentCount } from '../requests.js';
import { fetched, moderated, taskIn } from '../tasks.js';

const POLL_MS = 1_000;
const RATIOS = ['1:1', '3:4', '4:3', '9:16', '16:9', '9:21', '21:9'];
const REFERENCES_MAX = 4;

/** Luma's photon: tasks; it reads images at addresses only, so that of the gateway's own store is sent. */
export const dialect: ImagesDialect = {
  name: 'luma-images',
  takes: ['size', 'aspect_ratio'],
  unsupported: (request) => {
    const { operation, n, images, references } = request;
    if (!['generate', 'edit', 'mix', 'reframe'].includes(operation)) return new Unsupported(null);
    const ratio = ratioOf(request);
    if (ratio !== undefined && !RATIOS.includes(ratio))
      return new Unsupported(request.aspectRatio === null ? 'size' : 'aspect_ratio');
    if (images.length > 1) return new Unsupported('image');
    if (references.length > REFERENCES_MAX) return new Unsupported('reference_images');
    return n > 1 ? new Unsupported('n') : null;
  },
  run: async (request, upstream) => {
    const { calls } = upstream;
    const path = `/generations/image${request.operation === 'reframe' ? '/reframe' : ''}`;
    const body = given(await bodyOf(request, upstream));
    const task = objectIn(await calls.send(jsonBody(path, JSON_TYPE, body)));
    const id = taskIn(task.id);
    const look = lookAtPath(`/generations/${encodeURIComponent(id)}`);
    await calls.note(id);
    const url = await polled(calls, { everyMs: POLL_MS, look, read: imageIn });
    return {
      images: [{ picture: await fetched(calls, url) }],
      usage: unitUsage(1, sentCount(request)),
      context: request.context,
    };
  },
};

async function bodyOf(request: ImagesRequest, { target, calls, facts }: ImagesUpstream): Promise<JsonObject> {
  const { images, references, operation } = request;
  const sent = [...images, ...references];
  const addressOf = (picture: Picture, at: number): Promise<string> =>
    calls.keep(`${facts.answerId()}-in-${at}.${extensionOf(picture.bytes)}`, picture.bytes);
  const urls = (await Promise.all(sent.map(addressOf))).map((url) => ({ url }));
  const asked = { model: target.upstreamModel, prompt: promptOf(request), aspect_ratio: ratioOf(request) };
  if (operation === 'reframe') return { ...asked, media: urls[0] };
  if (operation === 'mix') return { ...asked, image_ref: urls };
  if (operation === 'generate') return asked;
  return { ...asked, modify_image_ref: urls[0], ...(urls.length > 1 && { image_ref: urls.slice(1) }) };
}

/** Null: it is still at work. */
function imageIn({ state, assets, failure_reason }: JsonObject): string | null {
  if (state === 'failed') {
    const reason = textOf(failure_reason);
    throw /moderat/i.test(reason)
      ? moderated(reason)
      : failedReply('server_error', reason || 'the task failed.', 500);
  }
  if (state !== 'completed') return null;
  const url = filled(objectOf(assets).image);
  if (url === null) throw badReply('the answer holds no image.');
  return url;
}
