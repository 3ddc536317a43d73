import { LazySchema, Unsupported, readJson, VIDEO_DIALECTS, type VideoRequest } from '@gateway/dialects';
import { spellBody } from '@gateway/json-body';
import type { Endpoint } from '../endpoint.js';
import { readVideo } from './read-video.js';
import { runVideo } from './run-video.js';

const text = { type: 'string', nullable: true };
const whole = { type: 'integer', nullable: true };
const flag = { type: 'boolean', nullable: true };

const SCHEMA = {
  type: 'object',
  required: ['model'],
  properties: {
    model: { type: 'string', minLength: 1 },
    prompt: { ...text, minLength: 1, maxLength: 32_000 },
    content: {
      type: 'array',
      nullable: true,
      minItems: 1,
      maxItems: 32,
      items: {
        type: 'object',
        required: ['type'],
        properties: {
          type: { enum: ['text', 'image_url', 'video_url', 'audio_url'] },
          text: { type: 'string', minLength: 1, maxLength: 32_000 },
          role: text,
          ...Object.fromEntries(
            ['image_url', 'video_url', 'audio_url'].map((name) => [
              name,
              { type: 'object', required: ['url'], properties: { url: { type: 'string', minLength: 1 } } },
            ]),
          ),
        },
      },
    },
    duration: { ...whole, minimum: 1, maximum: 60 },
    resolution: { ...text, enum: ['480p', '720p', '768p', '1080p', '2k', '4k', null] },
    aspect_ratio: { ...text, enum: ['16:9', '9:16', '1:1', '4:3', '3:4', '21:9', 'adaptive', null] },
    size: { ...text, pattern: '^[1-9][0-9]{1,4}x[1-9][0-9]{1,4}$' },
    fps: { ...whole, minimum: 1, maximum: 120 },
    seed: whole,
    n: { ...whole, minimum: 1, maximum: 1 },
    negative_prompt: text,
    generate_audio: flag,
    watermark: flag,
    camera_fixed: flag,
    return_last_frame: flag,
    person_generation: text,
    metadata: { type: 'object', nullable: true },
    safety_identifier: text,
    user: text,
  },
};
const schema = new LazySchema(SCHEMA, { strict: false });

/** POST /v1/video/generations, as the workers service runs it: one unit from the task's begin to its end. */
export const endpoint: Endpoint<VideoRequest> = {
  paths: ['/video/generations'],
  isInternal: true,
  permission: 'videos:write',
  idPrefix: 'vid',
  isCreate: true,
  docs: {
    summary: 'Begin a video task',
    schemaName: 'VideoGenerationRequest',
    schema: SCHEMA,
    answers: ['application/json'],
    description: 'Answers the task; it is read at /v1/video/generations/{id} until it has ended.',
  },
  load: () => schema.load(),
  read: ({ bytes }) => {
    const body = readJson(bytes, schema);
    spellBody(body);
    return readVideo(body.value);
  },
  translate: ({ request }, target) => {
    const dialect = VIDEO_DIALECTS.get(target.dialect);
    if (!dialect) return new Unsupported(null);
    const unknown = request.items.find(({ role }) => !dialect.roles.includes(role));
    if (unknown) return new Unsupported(`content.${unknown.position}.role`);
    const unsupported = dialect.unsupported?.(request) ?? null;
    if (unsupported !== null) return unsupported;
    return runVideo(request, target, dialect);
  },
};
