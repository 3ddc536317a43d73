import type { JsonObject } from '../../body/json-object.js';
import type { ErrorObject } from 'ajv';
import type { ErrorDetail } from '@gateway/contracts';
import { LazySchema } from '../../body/lazy-schema.js';
import { plainWords } from '../../body/plain-words.js';
import { typeOf } from '../../body/read-json.js';

type Schema = Record<string, unknown>;

const text: Schema = { type: 'string' };
const flag: Schema = { type: ['boolean', 'null'] };
const object: Schema = { type: 'object' };
const nullableText: Schema = { type: ['string', 'null'] };

/** One schema per value of `type`; `others` says which more are let through. */
function byType(cases: Record<string, Schema>, others: Schema): Schema {
  return {
    type: 'object',
    required: ['type'],
    properties: { type: text },
    allOf: [
      ...Object.entries(cases).map(([name, schema]) => ({
        // Without a type no branch is meant: what is missing is the type.
        if: { required: ['type'], properties: { type: { const: name } } },
        then: schema,
      })),
      {
        if: { properties: { type: { enum: Object.keys(cases) } } },
        else: { properties: { type: others } },
      },
    ],
  };
}

function shape(required: string[], properties: Record<string, Schema>): Schema {
  return { type: 'object', required, properties };
}

function orNull(schema: Schema): Schema {
  return { if: { type: 'null' }, else: schema };
}

/** Nothing else. */
const none: Schema = { not: {} };
const cacheControl: Schema = {
  type: ['object', 'null'],
  required: ['type'],
  properties: { type: { const: 'ephemeral' }, ttl: { enum: ['5m', '1h'] } },
};
const cached = { cache_control: cacheControl };

const base64 = (mediaTypes: string[]): Schema =>
  shape(['media_type', 'data'], { media_type: { enum: mediaTypes }, data: text });
const url = shape(['url'], { url: { type: 'string', pattern: '^[Hh][Tt][Tt][Pp][Ss]://.' } });
const file = shape(['file_id'], { file_id: text });

const image = shape(['source'], {
  source: byType({ base64: base64(['image/jpeg', 'image/png', 'image/gif', 'image/webp']), url, file }, none),
  ...cached,
});
const document = shape(['source'], {
  source: byType(
    {
      base64: base64(['application/pdf']),
      text: shape(['data'], { media_type: { const: 'text/plain' }, data: text }),
      content: shape(['content'], { content: { type: ['string', 'array'], items: object } }),
      url,
      file,
    },
    none,
  ),
  title: nullableText,
  context: nullableText,
  ...cached,
});
const textBlock = shape(['text'], {
  text,
  citations: { type: ['array', 'object', 'null'], items: object },
  ...cached,
});

/** Blocks that only this dialect's own providers understand: server tools and their results, and what they leave. */
const NATIVE_BLOCK: Schema = {
  anyOf: [
    { enum: ['search_result', 'container_upload', 'fallback', 'compaction'] },
    { type: 'string', pattern: '_tool_(use|result)$|^tool_(reference|addition|removal)$' },
  ],
};

const toolResult = shape(['tool_use_id'], {
  tool_use_id: { type: 'string', minLength: 1 },
  content: {
    type: ['string', 'array', 'null'],
    items: byType({ text: textBlock, image, document }, NATIVE_BLOCK),
  },
  is_error: flag,
  ...cached,
});

const block = byType(
  {
    text: textBlock,
    image,
    document,
    thinking: shape(['thinking', 'signature'], { thinking: text, signature: text }),
    redacted_thinking: shape(['data'], { data: text }),
    tool_use: shape(['id', 'name', 'input'], {
      id: { type: 'string', minLength: 1 },
      name: { type: 'string', minLength: 1, maxLength: 200 },
      input: object,
      ...cached,
    }),
    tool_result: toolResult,
  },
  NATIVE_BLOCK,
);

const message = shape(['role', 'content'], {
  role: { enum: ['user', 'assistant', 'system'] },
  content: { type: ['string', 'array'], items: block },
});

const NAME = '^[A-Za-z0-9_-]{1,128}$';

const tool: Schema = {
  type: 'object',
  properties: { type: nullableText, ...cached },
  if: { properties: { type: { enum: ['custom', null] } } },
  then: {
    required: ['name', 'input_schema'],
    properties: {
      name: { type: 'string', pattern: NAME },
      description: nullableText,
      input_schema: shape(['type'], { type: { const: 'object' } }),
      strict: flag,
    },
  },
  else: { properties: { type: { type: 'string', pattern: '^[a-z][a-z0-9_]{0,127}$' } } },
};

const thinking = byType(
  {
    enabled: shape(['budget_tokens'], {
      budget_tokens: { type: 'integer', minimum: 1024 },
      display: { enum: ['summarized', 'omitted', null] },
    }),
    adaptive: { properties: { display: { enum: ['summarized', 'omitted', null] } } },
    disabled: {},
    between_tools: {},
  },
  none,
);

const choice = { properties: { disable_parallel_tool_use: flag } };

/** Members of the Messages API and their types. No member is refused for being unknown, none is changed. */
const MESSAGES_REQUEST_SCHEMA = shape(['max_tokens', 'messages'], {
  model: { type: ['string', 'null'], minLength: 1 },
  max_tokens: { type: 'integer', minimum: 0 },
  messages: { type: 'array', minItems: 1, items: message },
  system: { type: ['string', 'array', 'null'], items: byType({ text: textBlock }, none) },
  tools: { type: ['array', 'null'], items: tool },
  tool_choice: orNull(
    byType(
      { auto: choice, any: choice, none: {}, tool: shape(['name'], { ...choice.properties, name: text }) },
      none,
    ),
  ),
  thinking: orNull(thinking),
  output_config: {
    type: ['object', 'null'],
    properties: {
      effort: { enum: ['low', 'medium', 'high', 'xhigh', 'max', null] },
      format: orNull(byType({ json_schema: shape(['schema'], { schema: object }) }, none)),
    },
  },
  temperature: { type: ['number', 'null'], minimum: 0, maximum: 1 },
  top_p: { type: ['number', 'null'], minimum: 0, maximum: 1 },
  top_k: { type: ['integer', 'null'], minimum: 0 },
  stop_sequences: { type: ['array', 'null'], items: { type: 'string', pattern: '\\S' } },
  stream: flag,
  metadata: {
    type: ['object', 'null'],
    properties: { user_id: { type: ['string', 'null'], maxLength: 256 } },
  },
  service_tier: { enum: ['auto', 'standard_only', null] },
  // The fast mode has prices of its own, which no route here has: it is refused rather than billed wrongly.
  speed: { enum: ['standard', null] },
  cache_control: cacheControl,
});

const native = { description: "Read by Anthropic's own models alone." };
const open = { type: 'object', additionalProperties: true };

/** The same as callers see it, with the members that pass to models of this format as they are. */
export const MESSAGES_CALLER_SCHEMA = {
  ...MESSAGES_REQUEST_SCHEMA,
  properties: {
    ...(MESSAGES_REQUEST_SCHEMA.properties as object),
    container: { ...native, anyOf: [nullableText, open] },
    mcp_servers: { ...native, type: ['array', 'null'], items: open },
    inference_geo: { ...native, ...nullableText },
    fallbacks: { ...native, type: ['array', 'null'], items: open },
    diagnostics: { ...native, ...open, type: ['object', 'null'] },
    context_management: {
      type: ['object', 'null'],
      additionalProperties: true,
      description:
        'Edits that only clear are left out where a model has none; any other needs a model of Anthropic.',
      properties: { edits: { type: ['array', 'null'], items: open } },
    },
  },
};

export const requestSchema = new LazySchema(MESSAGES_REQUEST_SCHEMA, { strict: false, allErrors: false });

function pathOf({ instancePath, params }: ErrorObject): (string | number)[] {
  const path = instancePath
    .split('/')
    .slice(1)
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part.replaceAll('~1', '/').replaceAll('~0', '~')));
  const { missingProperty } = params as { missingProperty?: string };
  return missingProperty === undefined ? path : [...path, missingProperty];
}

/** Returns the fault in a caller's words: the deepest one that the schema found. */
function detailOf(errors: readonly ErrorObject[]): ErrorDetail {
  const faults = errors.filter(({ keyword }) => keyword !== 'if' && keyword !== 'anyOf');
  const deepest = faults.reduce((best, error) => (pathOf(error).length > pathOf(best).length ? error : best));
  const { keyword, params, schemaPath } = deepest;
  const loc = pathOf(deepest);
  if (keyword === 'required') return { type: 'missing', loc, msg: 'Field required' };
  if (schemaPath.includes('else/properties/type'))
    return { type: 'unknown_tag', loc, msg: 'is not a known type' };
  const { allowedValues } = params as { allowedValues?: (string | null)[] };
  const listed = allowedValues?.filter((value) => value !== null);
  return {
    type: typeOf(keyword),
    loc,
    msg: listed === undefined ? plainWords(keyword, params) : `must be one of ${listed.join(', ')}`,
  };
}

/** The first fault of a body against the schema, null where it satisfies it. */
export function schemaFault(body: JsonObject): ErrorDetail | null {
  const { validate } = requestSchema;
  return validate(body) ? null : detailOf(validate.errors ?? []);
}
