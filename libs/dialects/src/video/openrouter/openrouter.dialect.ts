import { objectOf, textOf } from '../../body/json-object.js';
import { parseUpstreamObject } from '../../body/upstream-json.js';
import { badReply } from '../../translation/exchange.js';
import { jsonBody, JSON_TYPE } from '../../translation/upstream-body.js';
import { getBody } from '../get-body.js';
import type { VideoDialect, VideoItem } from '../video-dialect.js';

const FRAMES = ['first_frame', 'last_frame'];
const RUNNING = ['pending', 'queued', 'in_progress', 'processing'];
const FAILED = ['failed', 'cancelled', 'expired'];

/** OpenRouter's videos: the result is fetched below the task, with the credential. */
export const dialect: VideoDialect = {
  name: 'openrouter-video',
  roles: ['first_frame', 'last_frame', 'reference_image'],
  takes: ['seed', 'generate_audio', 'size'],
  pollMs: 2_000,
  create: ({ prompt, items, duration, resolution, aspectRatio, options }, { upstreamModel: model }) => {
    const frames = items.filter(({ role }) => FRAMES.includes(role));
    const references = items.filter(({ role }) => !FRAMES.includes(role));
    const { seed, generate_audio, size } = options;
    return jsonBody('/videos', JSON_TYPE, {
      model,
      prompt,
      ...(frames.length > 0 && {
        frame_images: frames.map((item) => ({ ...image(item), frame_type: item.role })),
      }),
      ...(references.length > 0 && { input_references: references.map(image) }),
      ...(duration !== null && { duration }),
      ...(resolution !== null && { resolution }),
      ...(aspectRatio !== null && { aspect_ratio: aspectRatio }),
      ...(seed != null && { seed }),
      ...(generate_audio != null && { generate_audio }),
      ...(size != null && { size }),
    });
  },
  begun: ({ bytes }) => {
    const id = textOf(objectOf(parseUpstreamObject(bytes)).id);
    if (!/^[\w.:-]{1,200}$/.test(id)) throw badReply('the answer names no task.');
    return id;
  },
  poll: (task) => getBody(`/videos/${encodeURIComponent(task)}`),
  read: ({ bytes }, task) => {
    const answer = objectOf(parseUpstreamObject(bytes));
    const status = textOf(answer.status);
    if (RUNNING.includes(status)) return { status: 'running' };
    if (FAILED.includes(status)) {
      const { error } = answer;
      const message = typeof error === 'string' ? error : textOf(objectOf(error).message);
      const isRefused = /moderat|policy|safety/i.test(message);
      return { status: 'failed', isRefused, message: message || `The task is ${status}.` };
    }
    if (status !== 'completed') throw badReply('the answer names no state of the task.');
    const call = getBody(`/videos/${encodeURIComponent(task)}/content?index=0`, 'video/*');
    return { status: 'done', seconds: null, result: { call } };
  },
};

function image({ url }: VideoItem): object {
  return { type: 'image_url', image_url: { url } };
}
