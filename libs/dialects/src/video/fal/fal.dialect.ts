import { filled, objectOf, textOf } from '../../body/json-object.js';
import { badReply } from '../../translation/exchange.js';
import { Unsupported } from '../../translation/translation.js';
import { jsonBody, JSON_TYPE, lookAt } from '../../translation/upstream-body.js';
import type { VideoDialect, VideoRequest } from '../video-dialect.js';
import { answerIn, failedState, given, itemsOf, ratioOf, urlOf } from '../video-parts.js';

const WORKING = ['IN_QUEUE', 'IN_PROGRESS'];

/** fal: a queue before every model. Its names of members are those that most models share; flags say what one does. */
export const dialect: VideoDialect = {
  name: 'fal-video',
  roles: ['first_frame', 'last_frame', 'reference_image', 'source_video'],
  takes: ['seed', 'negative_prompt', 'generate_audio'],
  pollMs: 2_000,
  unsupported: (request) => {
    const frames = itemsOf(request, 'reference_image').length > 0 && urlOf(request, 'source_video');
    return frames ? new Unsupported(`content.${itemsOf(request, 'reference_image')[0].position}.role`) : null;
  },
  create: (request, { upstreamModel }) => jsonBody(`/${upstreamModel}`, JSON_TYPE, given(bodyOf(request))),
  /** Its addresses are its own to choose: both are kept. */
  begun: (reply) => {
    const { status_url, response_url } = answerIn(reply);
    const [status, response] = [filled(status_url), filled(response_url)];
    if (status === null || response === null || /\s/.test(status + response))
      throw badReply('the answer names no task.');
    return `${status} ${response}`;
  },
  poll: (task) => lookAt(task.split(' ')[0]),
  read: (reply, task) => {
    const { status, error } = answerIn(reply);
    if (filled(error) !== null) return failedState(textOf(error));
    if (WORKING.includes(textOf(status))) return { status: 'running' };
    if (status !== 'COMPLETED') throw badReply('the answer names no state of the task.');
    const call = lookAt(task.split(' ').at(1) ?? '');
    return { status: 'done', seconds: null, result: { call, urlIn: videoIn } };
  },
};

function videoIn(reply: Parameters<typeof answerIn>[0]): string {
  const url = filled(objectOf(answerIn(reply).video).url);
  if (url === null) throw badReply('the answer holds no video.');
  return url;
}

function bodyOf(request: VideoRequest): Record<string, unknown> {
  const { prompt, duration, resolution, options } = request;
  const references = itemsOf(request, 'reference_image').map(({ url }) => url);
  return {
    prompt: prompt === '' ? null : prompt,
    negative_prompt: options.negative_prompt,
    image_url: urlOf(request, 'first_frame'),
    end_image_url: urlOf(request, 'last_frame'),
    reference_image_urls: references.length > 0 ? references : null,
    video_url: urlOf(request, 'source_video'),
    duration: duration === null ? null : String(duration),
    resolution,
    aspect_ratio: ratioOf(request),
    generate_audio: options.generate_audio,
    seed: options.seed,
  };
}
