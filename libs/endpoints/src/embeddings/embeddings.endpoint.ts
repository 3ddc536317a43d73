import {
  EMBEDDINGS_DIALECTS,
  filled,
  LazySchema,
  Unsupported,
  readJson,
  wholeTranslation,
  type EmbeddingsRequest,
} from '@gateway/dialects';
import type { ParsedBody } from '@gateway/json-body';
import type { Asked, Endpoint } from '../endpoint.js';

const INPUTS_MAX = 2_048;
const DIMENSIONS_MAX = 65_536;
/** Bytes that one token id counts as in the estimate, which counts a token for every four bytes. */
const TOKEN_BYTES = 4;

const text = { type: 'string', minLength: 1 };
const tokens = { type: 'array', minItems: 1, items: { type: 'integer', minimum: 0 } };
const SCHEMA = {
  type: 'object',
  required: ['input'],
  properties: {
    model: { type: 'string', nullable: true },
    input: {
      type: ['string', 'array'],
      minLength: 1,
      minItems: 1,
      // Chosen by what the list contains, so that a fault names the item that is wrong.
      if: { type: 'array', contains: { type: 'integer' } },
      then: tokens,
      else: {
        maxItems: INPUTS_MAX,
        if: { type: 'array', contains: { type: 'array' } },
        then: { items: tokens },
        else: { items: text },
      },
    },
    encoding_format: { enum: ['float', 'base64', null] },
    dimensions: { type: 'integer', minimum: 1, maximum: DIMENSIONS_MAX, nullable: true },
    user: { type: 'string', nullable: true },
  },
};
const schema = new LazySchema(SCHEMA, { strict: false });

/** POST /v1/embeddings. */
export const endpoint: Endpoint<EmbeddingsRequest> = {
  paths: ['/embeddings'],
  permission: 'inference:write',
  isCacheable: true,
  idPrefix: 'embd',
  docs: {
    summary: 'OpenAI embeddings',
    schemaName: 'EmbeddingsRequest',
    schema: SCHEMA,
    answers: ['application/json'],
    description: 'One vector of each input, in their order, as numbers or base64 of 32-bit floats.',
  },
  load: () => schema.load(),
  read: ({ bytes }) => askedOf(readJson(bytes, schema)),
  translate: ({ request }, route) => {
    const dialect = EMBEDDINGS_DIALECTS.get(route.dialect);
    if (!dialect) return new Unsupported(null);
    const param = dialect.unsupported(request, route);
    if (param !== null) return new Unsupported(param);
    return wholeTranslation({
      encode: () => dialect.encode(request, route),
      decode: (bytes, facts, head) => dialect.decode(bytes, request, facts, head),
    });
  },
};

function askedOf(body: ParsedBody): Asked<EmbeddingsRequest> {
  const { model, input, encoding_format: format, dimensions, user } = body.value;
  const inputs = inputsOf(input);
  return {
    model: filled(model),
    stream: false,
    tier: 'default',
    endUser: filled(user),
    serves: { flag: 'supports_embeddings', status: 400 },
    requires: [],
    dialect: 'embeddings',
    input: {
      inputBytes: inputs.reduce((sum, one) => sum + bytesOf(one), 0),
      inputImages: 0,
      inputAudioSeconds: 0,
      inputDocuments: [],
    },
    billableUnits: {},
    maxOutputTokens: 0,
    choices: 1,
    writesCache: false,
    context: {},
    request: {
      inputs,
      format: format === 'base64' ? 'base64' : 'float',
      dimensions: typeof dimensions === 'number' ? dimensions : null,
      body,
    },
  };
}

/** A text, texts, one list of token ids, or lists of them: the schema has checked which. */
function inputsOf(input: unknown): EmbeddingsRequest['inputs'] {
  if (!Array.isArray(input)) return [input as string];
  return typeof input[0] === 'number' ? [input as number[]] : (input as (string | number[])[]);
}

function bytesOf(input: string | readonly number[]): number {
  return typeof input === 'string' ? Buffer.byteLength(input) : input.length * TOKEN_BYTES;
}
