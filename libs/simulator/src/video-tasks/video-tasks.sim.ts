import { textOf, type JsonObject } from '../json.js';
import { JSON_TYPE } from '../reply.js';
import type { SimAnswer, SimEndpoint } from '../sim-endpoint.js';

/**
 * The form in which one upstream begins a task and shows it once it has ended: at the first poll, as long as requested.
 */
interface TaskForm {
  readonly begin: string | readonly string[];
  /** The end of a task's id. */
  readonly mark: string;
  readonly begun: (id: string) => JsonObject;
  readonly ended: (id: string, url: string, seconds: number) => JsonObject;
}

const FORMS: readonly TaskForm[] = [
  {
    begin: '/contents/generations/tasks',
    mark: '-simulated-seedance',
    begun: (id) => ({ id }),
    ended: (id, url, duration) => ({ id, status: 'succeeded', content: { video_url: url }, duration }),
  },
  {
    begin: ['/videos/text2video', '/videos/image2video', '/videos/multi-image2video'],
    mark: '-simulated-kling',
    begun: (id) => ({ code: 0, message: 'SUCCEED', data: { task_id: id, task_status: 'submitted' } }),
    ended: (id, url, seconds) => {
      const task_result = { videos: [{ id, url, duration: String(seconds) }] };
      return { code: 0, message: 'SUCCEED', data: { task_id: id, task_status: 'succeed', task_result } };
    },
  },
  {
    begin: ['/text_to_video', '/image_to_video', '/video_to_video'],
    mark: '-simulated-runway',
    begun: (id) => ({ id }),
    ended: (id, url) => ({ id, status: 'SUCCEEDED', output: [url] }),
  },
  {
    begin: '/generations/video',
    mark: '-simulated-luma',
    begun: (id) => ({ id, state: 'queued' }),
    ended: (id, url) => ({ id, state: 'completed', assets: { video: url } }),
  },
];
const SECONDS = 8;

/** Tasks of Seedance, Kling, Runway and Luma; their videos are at addresses without a credential. */
export const simulated: readonly SimEndpoint[] = FORMS.flatMap(({ begin, mark, begun, ended }) => [
  {
    path: begin,
    answer: ({ json = {}, id }) => {
      const { duration } = json;
      // A number, or a text as `5` and `5s`.
      const asked = typeof duration === 'number' ? duration : Number.parseInt(textOf(duration), 10);
      const seconds = asked > 0 ? asked : SECONDS;
      return answerOf(begun(`video-${id}-${seconds}${mark}`));
    },
  },
  {
    path: mark,
    method: 'GET',
    answer: ({ path, origin }) => {
      const id = path.slice(path.lastIndexOf('/') + 1);
      const seconds = Number(/-(\d+)-simulated/.exec(id)?.[1] ?? SECONDS);
      return answerOf(ended(id, `${origin}/open/video-${seconds}-simulated/content`, seconds));
    },
  },
]);

function answerOf(value: JsonObject): SimAnswer {
  return { contentType: JSON_TYPE, body: JSON.stringify(value) };
}
