import { ApiError } from '@gateway/contracts';
import {
  filled,
  IMAGES_DIALECTS,
  imagesContext,
  LazySchema,
  Misfit,
  readJson,
  wholeTranslation,
  type ImagesRequest,
} from '@gateway/dialects';
import type { Asked, Endpoint } from '../endpoint.js';

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
    response_format: oneOf('b64_json'),
    style: oneOf('vivid', 'natural'),
    user: text,
    safety_identifier: text,
    stream: { type: 'boolean', nullable: true },
    partial_images: { type: 'integer', nullable: true },
  },
};
const schema = new LazySchema(SCHEMA, { strict: false });

/** POST /v1/images/generations. */
export const endpoint: Endpoint<ImagesRequest> = {
  paths: ['/images/generations'],
  permission: 'inference:write',
  idPrefix: 'img',
  docs: {
    summary: 'OpenAI image generation',
    schemaName: 'ImageGenerationRequest',
    schema: SCHEMA,
    answers: ['application/json'],
    description: 'Makes images of a prompt. They are answered as base64, not streamed.',
  },
  load: () => schema.load(),
  read: ({ bytes }) => {
    const body = readJson(bytes, schema);
    const { value } = body;
    if (value.stream === true) throw unsupported('stream', 'images are not streamed');
    if (typeof value.partial_images === 'number')
      throw unsupported('partial_images', 'images are not streamed');
    const n = typeof value.n === 'number' ? value.n : 1;
    return askedOf({ body, n, context: imagesContext(value) });
  },
  translate: ({ request }, route) => {
    const dialect = IMAGES_DIALECTS.get(route.dialect);
    if (!dialect) return new Misfit(null);
    return wholeTranslation({
      encode: () => dialect.encode(request, route),
      decode: (bytes, facts) => dialect.decode(bytes, request, facts),
    });
  },
};

function askedOf(request: ImagesRequest): Asked<ImagesRequest> {
  const { model, prompt, safety_identifier, user } = request.body.value;
  return {
    model: filled(model),
    stream: false,
    tier: 'default',
    endUser: filled(safety_identifier) ?? filled(user),
    serves: { type: 'image', status: 501 },
    // Also what reserves the rate of image tokens for the output.
    requires: [{ output: 'image', param: 'model' }],
    dialect: 'images',
    input: { inputBytes: Buffer.byteLength(String(prompt)) },
    units: { images: request.n },
    maxOutputTokens: null,
    choices: request.n,
    writesCache: false,
    context: request.context,
    request,
  };
}

function unsupported(param: string, msg: string): ApiError {
  const details = [{ type: 'unsupported', loc: [param], msg }];
  return new ApiError('validation_error', { message: `${param}: ${msg}`, details, param });
}
