import {
  filled,
  invalidBody,
  isObject,
  parseDataUrl,
  type VideoItem,
  type VideoRequest,
  type VideoRole,
} from '@gateway/dialects';
import { membersAsWritten } from '@gateway/json-body';
import type { Asked } from '../endpoint.js';

type Json = Record<string, unknown>;

const ROLES: Readonly<Record<string, readonly VideoRole[]>> = {
  image_url: ['first_frame', 'last_frame', 'reference_image'],
  video_url: ['reference_video', 'source_video'],
  audio_url: ['reference_audio'],
};
const FRAMES: readonly VideoRole[] = ['first_frame', 'last_frame'];
const OWN = [
  'model',
  'prompt',
  'content',
  'duration',
  'resolution',
  'aspect_ratio',
  'n',
  'metadata',
  '$task',
];
/** Words of other APIs for what has its place here. Dropped, the video would be another one, and billed. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  seconds: 'the length is duration, in whole seconds',
  ...Object.fromEntries(
    [
      'image',
      'image_url',
      'first_frame',
      'last_frame',
      'input_reference',
      'reference_image',
      'reference_images',
    ]
      .concat([
        'video',
        'video_url',
        'reference_video',
        'source_video',
        'audio',
        'audio_url',
        'reference_audio',
      ])
      .concat(['images', 'frame_images', 'input_references', 'start_image', 'end_image', 'first_frame_image'])
      .map((name) => [name, 'images, videos and audio are items of content, each with its role']),
  ),
};
/** Length held for a video whose length was left to the model. */
const LIKELY_SECONDS = 8;

/** Throws ApiError `validation_error`, which names items by their position. */
export function readVideo(body: Json): Asked<VideoRequest> {
  for (const [name, msg] of Object.entries(ELSEWHERE))
    if (body[name] != null) throw invalidBody({ type: 'unknown_field', loc: [name], msg });
  const { prompt, items } = contentOf(body);
  const duration = typeof body.duration === 'number' ? body.duration : null;
  const [resolution, aspectRatio] = [filled(body.resolution), filled(body.aspect_ratio)];
  const { task, credential } = taskOf(body.$task);
  const options = membersAsWritten(body, (name) => OWN.includes(name));
  const images = items.filter(({ role }) => ROLES.image_url.includes(role)).length;
  return {
    model: filled(body.model),
    // It may take as long as a stream.
    stream: true,
    tier: 'default',
    heldAs: 'video',
    endUser: filled(body.safety_identifier) ?? filled(body.user),
    serves: { flag: 'supports_video_generation', status: 400 },
    requires: items.map(
      ({ role, position }) =>
        ({ flag: `supports_video_${role}`, param: `content.${position}.role` }) as const,
    ),
    dialect: '',
    input: { inputBytes: Buffer.byteLength(prompt), inputImages: images },
    billableUnits: { videos: 1, video_seconds: String(duration ?? LIKELY_SECONDS) },
    maxOutputTokens: 0,
    choices: 1,
    writesCache: false,
    context: {
      ...(resolution !== null && { resolution }),
      ...(aspectRatio !== null && { aspect_ratio: aspectRatio }),
      ...(typeof body.size === 'string' && { size: body.size }),
      ...(typeof body.generate_audio === 'boolean' && { generate_audio: body.generate_audio }),
    },
    credential,
    request: { prompt, items, duration, resolution, aspectRatio, options, task },
  };
}

/** Returns the task that the gateway set where it exists already. */
function taskOf(value: unknown): { task: string | null; credential: string | null } {
  if (!isObject(value)) return { task: null, credential: null };
  return { task: filled(value.state), credential: filled(value.credential) };
}

function contentOf(body: Json): { prompt: string; items: VideoItem[] } {
  const content = Array.isArray(body.content) ? (body.content as Json[]) : [];
  const texts = content.flatMap((item, position) => (item.type === 'text' ? [{ item, position }] : []));
  const prompt = filled(body.prompt);
  const [second] = prompt === null ? texts.slice(1) : texts;
  if (second !== undefined)
    throw fault(second.position, 'type', 'the prompt is given once, as prompt or as one text');
  const text = prompt ?? (texts.length > 0 ? filled(texts[0].item.text) : null);
  const items = content.flatMap((item, position) => (item.type === 'text' ? [] : [itemOf(item, position)]));
  if (text === null && items.length === 0)
    throw invalidBody({ type: 'missing', loc: ['prompt'], msg: 'a prompt or content is needed' });
  checkTogether(items);
  return { prompt: text ?? '', items };
}

function itemOf(item: Json, position: number): VideoItem {
  const type = String(item.type);
  const { url } = isObject(item[type]) ? item[type] : {};
  if (typeof url !== 'string') throw fault(position, type, `an item of type ${type} has ${type}.url`);
  if (!/^(?:data:|https:\/\/)/i.test(url)) throw fault(position, type, 'url is a data: or https: URL');
  if (/^data:/i.test(url)) checkData(url, type, position);
  const role = filled(item.role) ?? (type === 'image_url' ? 'first_frame' : null);
  const known = ROLES[type].find((one) => one === role);
  if (known === undefined)
    throw fault(position, 'role', `content[${position}].role has to be one of ${ROLES[type].join(', ')}`);
  return { role: known, url, position };
}

/** Checks data that is passed on unchanged: a provider would refuse it once the task exists, in words of its own. */
function checkData(url: string, type: string, position: number): void {
  const data = parseDataUrl(url);
  if ('fault' in data) throw fault(position, type, data.fault);
  const kind = type.replace('_url', '');
  if (!data.mediaType.startsWith(`${kind}/`)) throw fault(position, type, `the data URL is no ${kind}`);
}

function checkTogether(items: readonly VideoItem[]): void {
  const of = (role: VideoRole): VideoItem[] => items.filter((item) => item.role === role);
  for (const role of [...FRAMES, 'source_video'] as const) {
    const [, second] = of(role);
    if (second !== undefined) throw fault(second.position, 'role', `there is at most one ${role}`);
  }
  const [last] = of('last_frame');
  if (last !== undefined && of('first_frame').length === 0)
    throw fault(last.position, 'role', 'last_frame needs a first_frame');
  const frame = items.find(({ role }) => FRAMES.includes(role));
  const other = items.find(({ role }) => !FRAMES.includes(role));
  if (frame !== undefined && other !== undefined)
    throw fault(other.position, 'role', 'frames and reference media cannot be mixed');
}

function fault(position: number, member: string, msg: string): Error {
  return invalidBody({ type: 'content_invalid', loc: ['content', position, member], msg });
}
