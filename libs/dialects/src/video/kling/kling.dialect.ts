import { objectOf, objectsOf, textOf, type JsonObject } from '../../body/json-object.js';
import { badReply, failedReply } from '../../translation/exchange.js';
import { Unsupported, type UpstreamReply } from '../../translation/translation.js';
import { jsonBody, JSON_TYPE } from '../../translation/upstream-body.js';
import { getBody } from '../get-body.js';
import type { VideoDialect, VideoItem, VideoRequest } from '../video-dialect.js';
import { answerIn, failedState, given, inlineOf, itemsOf, ratioOf, taskIn, videoAt } from '../video-parts.js';

/** Names of a resolution; the first where none is requested. */
const MODES: ReadonlyMap<string, string> = new Map(
  Object.entries({ '720p': 'std', '1080p': 'pro', '4k': '4k' }),
);
const KINDS = ['text2video', 'image2video', 'multi-image2video'];

/** Kling: one path for each kind of video, where its task is looked at, too. A failure comes with 200 and a code. */
export const dialect: VideoDialect = {
  name: 'kling',
  roles: ['first_frame', 'last_frame', 'reference_image'],
  takes: ['negative_prompt', 'generate_audio', 'watermark'],
  pollMs: 5_000,
  unsupported: ({ resolution }) =>
    resolution === null || MODES.has(resolution) ? null : new Unsupported('resolution'),
  create: (request, { upstreamModel }) =>
    jsonBody(`/v1/videos/${kindOf(request)}`, JSON_TYPE, given(bodyOf(request, upstreamModel))),
  begun: (reply, request) => `${kindOf(request)}:${taskIn(dataIn(reply).task_id)}`,
  poll: (task) => {
    const [kind, id = ''] = task.split(':');
    if (!KINDS.includes(kind)) throw badReply('the task is of no known kind.');
    return getBody(`/v1/videos/${kind}/${encodeURIComponent(id)}`);
  },
  read: (reply) => {
    const { task_status: status, task_status_msg: message, task_result: result } = dataIn(reply);
    switch (status) {
      case 'submitted':
      case 'processing':
        return { status: 'running' };
      case 'succeed': {
        const [{ url, duration } = {} as JsonObject] = objectsOf(objectOf(result).videos);
        return videoAt(url, duration);
      }
      case 'failed':
        return failedState(textOf(message));
      default:
        throw badReply('the answer names no state of the task.');
    }
  },
};

function kindOf(request: VideoRequest): string {
  if (itemsOf(request, 'reference_image').length > 0) return 'multi-image2video';
  return request.items.length > 0 ? 'image2video' : 'text2video';
}

function bodyOf(request: VideoRequest, model: string): JsonObject {
  const { prompt, duration, resolution, options } = request;
  const { negative_prompt, generate_audio: audio, watermark } = options;
  const [first] = itemsOf(request, 'first_frame');
  const [last] = itemsOf(request, 'last_frame');
  const references = itemsOf(request, 'reference_image');
  return {
    model_name: model,
    prompt: prompt === '' ? null : prompt,
    negative_prompt,
    image: first && pictureOf(first),
    image_tail: last && pictureOf(last),
    image_list: references.length > 0 ? references.map((item) => ({ image: pictureOf(item) })) : null,
    sound: typeof audio === 'boolean' ? (audio ? 'on' : 'off') : null,
    // A picture has a format already.
    aspect_ratio: first === undefined ? ratioOf(request) : null,
    duration: duration === null ? null : String(duration),
    mode: MODES.get(resolution ?? '720p'),
    watermark_info: typeof watermark === 'boolean' ? { enabled: watermark } : null,
  };
}

/** An address, or base64 without a head. */
function pictureOf(item: VideoItem): string {
  return inlineOf(item)?.data ?? item.url;
}

function dataIn(reply: UpstreamReply): JsonObject {
  const { code, message, data } = answerIn(reply);
  if (typeof code === 'number' && code !== 0)
    throw failedReply(String(code), textOf(message), statusOf(code));
  return objectOf(data);
}

/** Returns the usual status of its codes. */
function statusOf(code: number): number {
  if (code >= 1_000 && code < 1_100) return 401;
  if (code === 1_102 || code === 1_101) return 402;
  if (code === 1_103) return 403;
  if (code === 1_203) return 404;
  if (code >= 1_200 && code < 1_302) return 400;
  if (code >= 1_302 && code < 1_400) return 429;
  return 500;
}
