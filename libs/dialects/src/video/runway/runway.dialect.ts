import { textOf, type JsonObject } from '../../body/json-object.js';
import { badReply } from '../../translation/exchange.js';
import { Unsupported } from '../../translation/translation.js';
import { jsonBody, JSON_TYPE } from '../../translation/upstream-body.js';
import { getBody } from '../get-body.js';
import type { VideoDialect, VideoRequest } from '../video-dialect.js';
import { answerIn, failedState, given, itemsOf, taskIn, urlOf, videoAt } from '../video-parts.js';

const WIDE = '1280:720';
/** Pixels of a format, as it names them; 720p where nothing else is asked for. */
const RATIOS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '16:9': WIDE,
    '9:16': '720:1280',
    '1:1': '960:960',
    '4:3': '1104:832',
    '3:4': '832:1104',
    '21:9': '1584:672',
  }),
);
const RUNNING = ['PENDING', 'THROTTLED', 'RUNNING'];

/** Runway: an endpoint for each kind of input, whose bodies are closed: nothing is sent that it does not know. */
export const dialect: VideoDialect = {
  name: 'runway',
  roles: ['first_frame', 'last_frame', 'source_video'],
  takes: ['seed', 'size'],
  pollMs: 5_000,
  unsupported: (request) => {
    const [video] = itemsOf(request, 'source_video');
    if (video?.url.startsWith('data:')) return new Unsupported(`content.${video.position}.video_url`);
    const { resolution } = request;
    return resolution === null || resolution === '720p' ? null : new Unsupported('resolution');
  },
  create: (request, { upstreamModel: model }) => {
    const { prompt, duration, options } = request;
    const promptText = prompt === '' ? null : prompt;
    const video = urlOf(request, 'source_video');
    const body: JsonObject = { model, promptText, seed: options.seed };
    if (video !== undefined)
      return jsonBody('/v1/video_to_video', JSON_TYPE, given({ ...body, videoUri: video }));
    const [first, last] = [urlOf(request, 'first_frame'), urlOf(request, 'last_frame')];
    const sized = { ...body, ratio: ratioOf(request), duration };
    if (first === undefined) return jsonBody('/v1/text_to_video', JSON_TYPE, given(sized));
    const frames = [
      { uri: first, position: 'first' },
      { uri: last, position: 'last' },
    ].filter(({ uri }) => uri !== undefined);
    return jsonBody('/v1/image_to_video', JSON_TYPE, given({ ...sized, promptImage: frames }));
  },
  begun: (reply) => taskIn(answerIn(reply).id),
  poll: (task) => getBody(`/v1/tasks/${encodeURIComponent(task)}`),
  read: (reply) => {
    const { status, output, failure, failureCode } = answerIn(reply);
    if (RUNNING.includes(textOf(status))) return { status: 'running' };
    if (status === 'SUCCEEDED') return videoAt(Array.isArray(output) ? output[0] : null);
    if (status === 'FAILED') return failedState(textOf(failure), textOf(failureCode));
    if (status === 'CANCELLED') return failedState('The task is cancelled.');
    throw badReply('the answer names no state of the task.');
  },
};

function ratioOf({ aspectRatio, options }: VideoRequest): string {
  const { size } = options;
  if (typeof size === 'string') return size.replace('x', ':');
  return RATIOS.get(aspectRatio ?? '16:9') ?? WIDE;
}
