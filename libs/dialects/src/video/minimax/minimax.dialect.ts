import { baseRespFailure } from '../../body/base-resp.js';
import { objectOf, textOf, type JsonObject } from '../../body/json-object.js';
import { badReply, failedReply } from '../../translation/exchange.js';
import { Unsupported, type UpstreamReply } from '../../translation/translation.js';
import { jsonBody, JSON_TYPE } from '../../translation/upstream-body.js';
import { getBody } from '../get-body.js';
import type { VideoDialect, VideoRequest, VideoRole } from '../video-dialect.js';
import { answerIn, failedState, given, itemsOf, ratioOf, taskIn, videoAt } from '../video-parts.js';

const MOST: readonly [role: VideoRole, count: number][] = [
  ['reference_image', 9],
  ['reference_video', 3],
  ['reference_audio', 3],
];
const KINDS: Partial<Record<VideoRole, string>> = {
  reference_video: 'video_url',
  reference_audio: 'audio_url',
};

/** MiniMax's H3: content items with the caller's own roles. What it was shown of video is billed, too. */
export const dialect: VideoDialect = {
  name: 'minimax-video',
  roles: ['first_frame', 'last_frame', 'reference_image', 'reference_video', 'reference_audio'],
  takes: ['watermark'],
  pollMs: 10_000,
  unsupported: (request) => {
    for (const [role, count] of MOST) {
      const extra = itemsOf(request, role).at(count);
      if (extra !== undefined) return new Unsupported(`content.${extra.position}.role`);
    }
    const [audio] = itemsOf(request, 'reference_audio');
    const isAlone = request.items.every(({ role }) => role === 'reference_audio');
    return audio !== undefined && isAlone ? new Unsupported(`content.${audio.position}.role`) : null;
  },
  create: (request, { upstreamModel: model }) => {
    const { duration, resolution, options } = request;
    const body = {
      model,
      content: contentOf(request),
      resolution: resolution?.toUpperCase(),
      duration,
      ratio: ratioOf(request),
      aigc_watermark: options.watermark,
    };
    return jsonBody('/v2/video_generation', JSON_TYPE, given(body));
  },
  begun: (reply) => taskIn(madeIn(reply).task_id),
  poll: (task) => getBody(`/v2/query/video_generation/${encodeURIComponent(task)}`),
  read: (reply) => {
    const { status, content, usage, error } = objectOf(madeIn(reply).task);
    switch (status) {
      case 'queued':
      case 'running':
        return { status: 'running' };
      case 'succeeded': {
        const { input_seconds: shown, output_seconds: made } = objectOf(usage);
        const done = videoAt(objectOf(content).url, made);
        return done.status === 'done' && typeof shown === 'number' ? { ...done, inputSeconds: shown } : done;
      }
      case 'failed':
      case 'cancelled':
      case 'expired': {
        const { code, message } = objectOf(error);
        return failedState(textOf(message) || `The task is ${status}.`, String(code));
      }
      default:
        throw badReply('the answer names no state of the task.');
    }
  },
};

function madeIn(reply: UpstreamReply): JsonObject {
  const answer = answerIn(reply);
  const failure = baseRespFailure(answer);
  if (failure) throw failedReply(failure.code, failure.message || 'no video was made.', failure.status);
  return answer;
}

function contentOf({ prompt, items }: VideoRequest): object[] {
  const media = items.map(({ role, url }) => {
    const type = KINDS[role] ?? 'image_url';
    return { type, [type]: { url }, role };
  });
  return [...(prompt === '' ? [] : [{ type: 'text', text: prompt }]), ...media];
}
