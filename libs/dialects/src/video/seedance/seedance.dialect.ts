import { objectOf, textOf } from '../../body/json-object.js';
import { badReply } from '../../translation/exchange.js';
import { jsonBody, JSON_TYPE } from '../../translation/upstream-body.js';
import { getBody } from '../get-body.js';
import type { VideoDialect, VideoRequest, VideoRole } from '../video-dialect.js';
import { answerIn, failedState, given, taskIn, videoAt } from '../video-parts.js';

const PATH = '/contents/generations/tasks';
const KINDS: Partial<Record<VideoRole, string>> = {
  reference_video: 'video_url',
  reference_audio: 'audio_url',
};

/** ByteDance's Seedance, whose content items and roles are the caller's. */
export const dialect: VideoDialect = {
  name: 'seedance',
  roles: ['first_frame', 'last_frame', 'reference_image', 'reference_video', 'reference_audio'],
  takes: ['seed', 'generate_audio', 'watermark', 'camera_fixed'],
  pollMs: 3_000,
  create: (request, { upstreamModel: model }) => {
    const { duration, resolution, aspectRatio: ratio, options } = request;
    const { seed, generate_audio, watermark, camera_fixed } = options;
    const body = { model, content: contentOf(request), resolution, ratio, duration, seed };
    return jsonBody(PATH, JSON_TYPE, given({ ...body, generate_audio, watermark, camera_fixed }));
  },
  begun: (reply) => taskIn(answerIn(reply).id),
  poll: (task) => getBody(`${PATH}/${encodeURIComponent(task)}`),
  read: (reply) => {
    const { status, content, duration, error } = answerIn(reply);
    switch (status) {
      case 'queued':
      case 'running':
        return { status: 'running' };
      case 'succeeded':
        return videoAt(objectOf(content).video_url, duration);
      case 'failed':
      case 'cancelled':
      case 'expired': {
        const { code, message } = objectOf(error);
        return failedState(textOf(message) || `The task is ${status}.`, textOf(code));
      }
      default:
        throw badReply('the answer names no state of the task.');
    }
  },
};

/** A picture alone has no role there. */
function contentOf({ prompt, items }: VideoRequest): object[] {
  const isAlone = items.length === 1 && items[0].role === 'first_frame';
  const media = items.map(({ role, url }) => {
    const type = KINDS[role] ?? 'image_url';
    return { type, [type]: { url }, ...(!isAlone && { role }) };
  });
  return [...(prompt === '' ? [] : [{ type: 'text', text: prompt }]), ...media];
}
