import { LazySchema, readJson } from '@gateway/dialects';
import { spellBody } from '@gateway/json-body';
import type { Endpoint } from '../endpoint.js';
import { askedImages, type AskedImages } from '../image-answers/asked-images.js';
import { refuseStream } from '../image-answers/refuse-stream.js';
import { sharedImaging } from '../image-answers/shared-imaging.js';
import { translateImages } from '../image-answers/translate-images.js';

const PROMPT_CHARACTERS_MAX = 32_000;
const IMAGES_MAX = 10;

const text = { type: 'string', nullable: true };
const oneOf = (...values: string[]): object => ({ ...text, enum: [...values, null] });
const SCHEMA = {
  type: 'object',
  required: ['prompt'],
  properties: {
    model: text,
    prompt: { type: 'string', minLength: 1, maxLength: PROMPT_CHARACTERS_MAX },
    n: { type: 'integer', nullable: true, minimum: 1, maximum: IMAGES_MAX },
    size: { ...text, pattern: '^(auto|[1-9][0-9]{0,4}x[1-9][0-9]{0,4})$' },
    quality: oneOf('auto', 'low', 'medium', 'high', 'xhigh', 'max', 'standard', 'hd'),
    background: oneOf('auto', 'transparent', 'opaque'),
    // Not svg: a text model writes it, whose tokens are counted apart and have no price here.
    output_format: oneOf('png', 'jpeg', 'webp', 'gif'),
    output_compression: { type: 'integer', nullable: true, minimum: 0, maximum: 100 },
    moderation: oneOf('auto', 'low'),
    response_format: oneOf('url', 'b64_json'),
    style: oneOf('vivid', 'natural'),
    user: text,
    safety_identifier: text,
    stream: { type: 'boolean', nullable: true },
    partial_images: { type: 'integer', nullable: true },
  },
};
const schema = new LazySchema(SCHEMA, { strict: false });

/** POST /v1/images/generations. */
export const endpoint: Endpoint<AskedImages> = {
  paths: ['/images/generations'],
  permission: 'inference:write',
  idPrefix: 'img',
  answersOnce: true,
  isCreate: true,
  docs: {
    summary: 'OpenAI image generation',
    schemaName: 'ImageGenerationRequest',
    schema: SCHEMA,
    answers: ['application/json'],
    description:
      'Makes images of a prompt. They are answered as addresses that are good for an hour, as base64, or as both; not streamed. A repeat with the same `Idempotency-Key` within a day gets the first answer.',
  },
  load: () => schema.load(),
  read: ({ bytes }) => {
    const body = readJson(bytes, schema);
    refuseStream(body.value);
    spellBody(body);
    return askedImages(body.value, { type: 'image', status: 501 }, { operation: 'generate', body });
  },
  translate: ({ request }, route) => translateImages(request, route, sharedImaging),
};
