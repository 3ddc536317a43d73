import { objectOf, textOf } from '../../body/json-object.js';
import { parseUpstreamObject } from '../../body/upstream-json.js';
import { badReply } from '../../translation/exchange.js';
import { jsonBody, JSON_TYPE } from '../../translation/upstream-body.js';
import { getBody } from '../get-body.js';
import type { VideoDialect, VideoItem, VideoRole } from '../video-dialect.js';

/** xAI's videos: a poll that is not done is 202, with or without a body. */
export const dialect: VideoDialect = {
  name: 'xai-video',
  roles: ['first_frame', 'last_frame', 'reference_image', 'reference_audio', 'source_video'],
  takes: [],
  pollMs: 2_000,
  create: ({ prompt, items, duration, resolution, aspectRatio }, { upstreamModel: model }) => {
    const [image] = of(items, 'first_frame');
    const [lastFrame] = of(items, 'last_frame');
    const [video] = of(items, 'source_video');
    const references = of(items, 'reference_image');
    const audios = of(items, 'reference_audio');
    const path = video === undefined ? '/videos/generations' : '/videos/edits';
    return jsonBody(path, JSON_TYPE, {
      model,
      prompt,
      ...(image && { image }),
      ...(lastFrame && { last_frame: lastFrame }),
      ...(video && { video }),
      ...(references.length > 0 && { reference_images: references }),
      ...(audios.length > 0 && { reference_audios: audios }),
      ...(duration !== null && { duration }),
      ...(resolution !== null && { resolution }),
      ...(aspectRatio !== null && { aspect_ratio: aspectRatio }),
    });
  },
  begun: ({ bytes }) => {
    const id = textOf(objectOf(parseUpstreamObject(bytes)).request_id);
    if (!/^[\w.:-]{1,200}$/.test(id)) throw badReply('the answer names no request_id.');
    return id;
  },
  poll: (task) => getBody(`/videos/${encodeURIComponent(task)}`),
  read: ({ status, bytes }) => {
    if (status === 202) return { status: 'running' };
    const answer = objectOf(parseUpstreamObject(bytes));
    switch (answer.status) {
      case 'pending':
        return { status: 'running' };
      case 'failed':
      case 'expired': {
        const { code, message } = objectOf(answer.error);
        const isRefused = /moderat|policy|safety/i.test(`${textOf(code)} ${textOf(message)}`);
        return { status: 'failed', isRefused, message: textOf(message) || `The task is ${answer.status}.` };
      }
      case 'done':
        break;
      default:
        throw badReply('the answer names no state of the task.');
    }
    const { url, duration, respect_moderation: isGood } = objectOf(answer.video);
    if (isGood === false)
      return { status: 'failed', isRefused: true, message: 'The video was held back by moderation.' };
    if (typeof url !== 'string') throw badReply('the answer holds no video.');
    return { status: 'done', seconds: typeof duration === 'number' ? duration : null, result: { url } };
  },
};

function of(items: readonly VideoItem[], wanted: VideoRole): { url: string }[] {
  return items.filter(({ role }) => role === wanted).map(({ url }) => ({ url }));
}
