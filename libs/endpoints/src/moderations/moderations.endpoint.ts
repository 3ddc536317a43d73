import {
  filled,
  isObject,
  LazySchema,
  Unsupported,
  MODERATIONS_DIALECTS,
  readJson,
  wholeTranslation,
} from '@gateway/dialects';
import type { ParsedBody } from '@gateway/json-body';
import type { Asked, Endpoint, Requirement } from '../endpoint.js';

/** Model that OpenAI takes where a caller names none. A key's default model is made for talking, not for judging. */
const DEFAULT_MODEL = 'omni-moderation-latest';
const INPUTS_MAX = 2_048;

const text = { type: 'string' };
/** Addresses as everywhere: an upstream of the operator's own would fetch internal ones. */
const ADDRESS = { type: 'string', pattern: '^(?:[hH][tT][tT][pP][sS]://.|[dD][aA][tT][aA]:)' };
const part = {
  type: 'object',
  required: ['type'],
  discriminator: { propertyName: 'type' },
  oneOf: [
    { properties: { type: { const: 'text' }, text }, required: ['text'] },
    {
      properties: {
        type: { const: 'image_url' },
        image_url: { type: 'object', required: ['url'], properties: { url: ADDRESS } },
      },
      required: ['image_url'],
    },
  ],
};
const SCHEMA = {
  type: 'object',
  required: ['input'],
  properties: {
    model: { type: 'string', nullable: true },
    input: {
      type: ['string', 'array'],
      minItems: 1,
      maxItems: INPUTS_MAX,
      // One kind of list or the other, chosen by what it contains, so that a fault names the item that is wrong.
      if: { type: 'array', contains: { type: 'string' } },
      then: { items: text },
      else: { items: part },
    },
  },
};
const schema = new LazySchema(SCHEMA, { strict: false, discriminator: true });

/** POST /v1/moderations. */
export const endpoint: Endpoint<ParsedBody> = {
  paths: ['/moderations'],
  permission: 'inference:write',
  idPrefix: 'modr',
  docs: {
    summary: 'OpenAI moderations',
    schemaName: 'ModerationRequest',
    schema: SCHEMA,
    answers: ['application/json'],
    description: 'Judges texts and images. Without a model, omni-moderation-latest judges.',
  },
  load: () => schema.load(),
  read: ({ bytes }) => askedOf(readJson(bytes, schema)),
  translate: ({ request }, route) => {
    const dialect = MODERATIONS_DIALECTS.get(route.dialect);
    if (!dialect) return new Unsupported(null);
    return wholeTranslation({
      encode: () => dialect.encode(request, route),
      decode: (bytes, facts) => dialect.decode(bytes, facts, judgedIn(request)),
    });
  },
};

function askedOf(body: ParsedBody): Asked<ParsedBody> {
  const { model } = body.value;
  const inputs = Array.isArray(body.value.input) ? (body.value.input as unknown[]) : [body.value.input];
  const images = inputs.filter((input) => isObject(input) && input.type === 'image_url').length;
  return {
    model: filled(model) ?? DEFAULT_MODEL,
    stream: false,
    tier: 'default',
    endUser: null,
    serves: { type: 'text', status: 400 },
    requires: images > 0 ? [IMAGES] : [],
    dialect: 'moderations',
    input: {
      inputBytes: inputs.reduce<number>((sum, input) => sum + bytesOf(input), 0),
      inputImages: images,
      inputAudioSeconds: 0,
      inputDocuments: [],
    },
    billableUnits: {},
    maxOutputTokens: 0,
    choices: 1,
    writesCache: false,
    context: {},
    request: body,
  };
}

/** Each text of a list is judged by itself; parts are judged together. */
function judgedIn({ value: { input } }: ParsedBody): number {
  return Array.isArray(input) && typeof input[0] === 'string' ? input.length : 1;
}

const IMAGES: Requirement = { input: ['image'], param: 'input' };

function bytesOf(input: unknown): number {
  const said = isObject(input) ? input.text : input;
  return typeof said === 'string' ? Buffer.byteLength(said) : 0;
}
