import { objectOf, textOf } from '../../body/json-object.js';
import { badReply } from '../../translation/exchange.js';
import { Unsupported } from '../../translation/translation.js';
import { jsonBody, JSON_TYPE } from '../../translation/upstream-body.js';
import { getBody } from '../get-body.js';
import type { VideoDialect } from '../video-dialect.js';
import { answerIn, failedState, given, ratioOf, taskIn, urlOf, videoAt } from '../video-parts.js';

const LENGTHS = [5, 9];
/** The first where none is asked for: what one costs depends on it. */
const RESOLUTIONS = ['720p', '1080p', '4k'];

/** Luma's Ray: the frames of a video are addresses, and it is five or nine seconds long. */
export const dialect: VideoDialect = {
  name: 'luma-video',
  roles: ['first_frame', 'last_frame'],
  takes: [],
  pollMs: 3_000,
  unsupported: ({ items, duration, resolution }) => {
    const inline = items.find(({ url }) => url.startsWith('data:'));
    if (inline !== undefined) return new Unsupported(`content.${inline.position}.image_url`);
    if (resolution !== null && !RESOLUTIONS.includes(resolution)) return new Unsupported('resolution');
    return duration === null || LENGTHS.includes(duration) ? null : new Unsupported('duration');
  },
  create: (request, { upstreamModel: model }) => {
    const { prompt, duration, resolution } = request;
    const frame = (url: string | undefined): object | null =>
      url === undefined ? null : { type: 'image', url };
    const frame0 = frame(urlOf(request, 'first_frame'));
    const frame1 = frame(urlOf(request, 'last_frame'));
    const body = {
      model,
      prompt: prompt === '' ? null : prompt,
      keyframes: frame0 === null ? null : given({ frame0, frame1 }),
      aspect_ratio: ratioOf(request),
      duration: duration === null ? null : `${duration}s`,
      resolution: resolution ?? RESOLUTIONS[0],
    };
    return jsonBody('/generations/video', JSON_TYPE, given(body));
  },
  begun: (reply) => taskIn(answerIn(reply).id),
  poll: (task) => getBody(`/generations/${encodeURIComponent(task)}`),
  read: (reply) => {
    const { state, assets, failure_reason: reason } = answerIn(reply);
    switch (state) {
      case 'queued':
      case 'dreaming':
        return { status: 'running' };
      case 'completed':
        return videoAt(objectOf(assets).video);
      case 'failed':
        return failedState(textOf(reason));
      default:
        throw badReply('the answer names no state of the task.');
    }
  },
};
