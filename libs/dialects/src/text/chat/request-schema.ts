import type { ErrorDetail } from '@gateway/contracts';
import { LazySchema } from '../../body/lazy-schema.js';
import { isObject, objectOf, objectsOf, type JsonObject } from '../../body/json-object.js';
import { fault, schemaFault } from '../../body/read-json.js';

// Words of the JSON schemas here, and the schema of one message.

const nullable = (type: string, more: object = {}): object => ({ type: [type, 'null'], ...more });
const oneOf = (...values: string[]): object => ({ type: 'string', enum: values });
const nullableEnum = (...values: string[]): object => ({
  type: ['string', 'null'],
  enum: [...values, null],
});
const text = { type: 'string' };
const object = { type: 'object' };

/** Members that a tag decides on: the fault names the tag, or the member of the right branch. */
function tagged(tag: string, branches: Record<string, { required?: string[]; properties?: object }>): object {
  return {
    type: 'object',
    required: [tag],
    discriminator: { propertyName: tag },
    oneOf: Object.entries(branches).map(([value, { required = [], properties = {} }]) => ({
      required: [tag, ...required],
      properties: { [tag]: { const: value }, ...properties },
    })),
  };
}

const TEXT_PART = { required: ['text'], properties: { text } };
const textParts = { type: 'array', items: tagged('type', { text: TEXT_PART }) };
const userParts = {
  type: 'array',
  items: tagged('type', {
    text: TEXT_PART,
    image_url: {
      required: ['image_url'],
      properties: {
        image_url: {
          type: 'object',
          required: ['url'],
          properties: { url: text, detail: nullableEnum('auto', 'low', 'high', 'original') },
        },
      },
    },
    input_audio: {
      required: ['input_audio'],
      properties: {
        input_audio: {
          type: 'object',
          required: ['data', 'format'],
          properties: { data: text, format: oneOf('wav', 'mp3') },
        },
      },
    },
    file: {
      required: ['file'],
      properties: {
        file: { type: 'object', properties: { file_data: text, file_id: text, filename: text } },
      },
    },
    video_url: {
      required: ['video_url'],
      properties: { video_url: { type: 'object', required: ['url'], properties: { url: text } } },
    },
  }),
};
const assistantParts = {
  type: 'array',
  items: tagged('type', {
    text: TEXT_PART,
    refusal: { required: ['refusal'], properties: { refusal: text } },
  }),
};
const content = (parts: { items: object }, ...more: string[]): object => ({
  type: ['string', 'array', ...more],
  items: parts.items,
});
const toolCall = tagged('type', {
  function: {
    required: ['id', 'function'],
    properties: {
      id: text,
      function: {
        type: 'object',
        required: ['name', 'arguments'],
        properties: { name: text, arguments: text },
      },
    },
  },
  custom: {
    required: ['id', 'custom'],
    properties: {
      id: text,
      custom: { type: 'object', required: ['name', 'input'], properties: { name: text, input: text } },
    },
  },
});
const instructions = { required: ['content'], properties: { content: content(textParts) } };

const message = tagged('role', {
  system: instructions,
  developer: instructions,
  user: { required: ['content'], properties: { content: content(userParts), name: nullable('string') } },
  assistant: {
    properties: {
      content: content(assistantParts, 'null'),
      refusal: nullable('string'),
      name: nullable('string'),
      tool_calls: { type: ['array', 'null'], items: toolCall, maxItems: 1_024 },
      audio: nullable('object'),
      reasoning: nullable('string'),
      reasoning_content: nullable('string'),
      reasoning_details: { type: ['array', 'null'], items: object },
    },
  },
  tool: {
    required: ['content', 'tool_call_id'],
    properties: { content: content(textParts), tool_call_id: text },
  },
});

const name = { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' };
const effort = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];
const named = (of: string): object => ({
  required: [of],
  properties: { [of]: { type: 'object', required: ['name'], properties: { name: text } } },
});

const functionTool = {
  required: ['function'],
  properties: {
    function: {
      type: 'object',
      required: ['name'],
      properties: {
        name,
        description: nullable('string'),
        parameters: nullable('object'),
        strict: nullable('boolean'),
      },
    },
  },
};
const typedTool = tagged('type', {
  function: functionTool,
  custom: {
    required: ['custom'],
    properties: {
      custom: {
        type: 'object',
        required: ['name'],
        properties: { name, description: nullable('string'), format: nullable('object') },
      },
    },
  },
});
/** Mistral's own client leaves the type of a function out. */
const tool = {
  type: 'object',
  if: { required: ['function'], not: { required: ['type'] } },
  then: functionTool,
  else: typedTool,
};

const toolChoice = {
  type: ['string', 'object', 'null'],
  if: { type: ['string', 'null'] },
  then: { enum: ['none', 'auto', 'required', null] },
  else: tagged('type', {
    function: named('function'),
    custom: named('custom'),
    allowed_tools: {
      required: ['allowed_tools'],
      properties: {
        allowed_tools: {
          type: 'object',
          required: ['mode', 'tools'],
          properties: { mode: oneOf('auto', 'required'), tools: { type: 'array', items: object } },
        },
      },
    },
  }),
};

const responseFormat = {
  ...tagged('type', {
    text: {},
    json_object: {},
    json_schema: {
      required: ['json_schema'],
      properties: {
        json_schema: {
          type: 'object',
          required: ['name'],
          properties: {
            name,
            description: nullable('string'),
            schema: nullable('object'),
            strict: nullable('boolean'),
          },
        },
      },
    },
  }),
  type: ['object', 'null'],
};

/** Parameters of a chat request, legacy functions already rewritten. Others are let by. */
const CHAT_REQUEST_SCHEMA = {
  type: 'object',
  required: ['messages'],
  properties: {
    model: { type: ['string', 'null'], minLength: 1, maxLength: 256 },
    messages: { type: 'array', minItems: 1, items: message },
    temperature: nullable('number', { minimum: 0, maximum: 2 }),
    top_p: nullable('number', { minimum: 0, maximum: 1 }),
    top_k: nullable('integer', { minimum: 0 }),
    max_completion_tokens: nullable('integer', { minimum: 1 }),
    max_tokens: nullable('integer', { minimum: 1 }),
    n: nullable('integer', { minimum: 1, maximum: 128 }),
    stop: { type: ['string', 'array', 'null'], items: text, maxItems: 64 },
    seed: nullable('integer'),
    frequency_penalty: nullable('number', { minimum: -2, maximum: 2 }),
    presence_penalty: nullable('number', { minimum: -2, maximum: 2 }),
    logit_bias: nullable('object', { additionalProperties: { type: 'number', minimum: -100, maximum: 100 } }),
    logprobs: nullable('boolean'),
    top_logprobs: nullable('integer', { minimum: 0, maximum: 20 }),
    tools: { type: ['array', 'null'], items: tool, maxItems: 1_024 },
    tool_choice: toolChoice,
    parallel_tool_calls: nullable('boolean'),
    response_format: responseFormat,
    stream: nullable('boolean'),
    stream_options: nullable('object', {
      properties: { include_usage: nullable('boolean'), include_obfuscation: nullable('boolean') },
    }),
    reasoning_effort: nullableEnum(...effort),
    reasoning: nullable('object', {
      properties: {
        effort: nullableEnum(...effort),
        max_tokens: nullable('integer', { minimum: 1 }),
        exclude: nullable('boolean'),
      },
    }),
    verbosity: nullableEnum('low', 'medium', 'high'),
    modalities: { type: ['array', 'null'], items: oneOf('text', 'audio', 'image') },
    audio: nullable('object', {
      required: ['format', 'voice'],
      properties: {
        format: oneOf('wav', 'aac', 'mp3', 'flac', 'opus', 'pcm16'),
        voice: { type: ['string', 'object'], required: ['id'], properties: { id: text } },
      },
    }),
    prediction: nullable('object', {
      required: ['type', 'content'],
      properties: { type: { const: 'content' }, content: content(textParts) },
    }),
    web_search_options: nullable('object', {
      properties: {
        search_context_size: nullableEnum('low', 'medium', 'high'),
        user_location: nullable('object'),
      },
    }),
    service_tier: nullableEnum('auto', 'default', 'flex'),
    store: nullable('boolean'),
    metadata: nullable('object', {
      maxProperties: 16,
      propertyNames: { maxLength: 64 },
      additionalProperties: { type: 'string', maxLength: 512 },
    }),
    prompt_cache_key: nullable('string'),
    prompt_cache_retention: nullable('string'),
    prompt_cache_options: nullable('object'),
    safety_identifier: nullable('string', { maxLength: 64 }),
    user: nullable('string'),
    moderation: nullable('object'),
    template: nullable('string'),
    template_version: nullable('string'),
    variables: nullable('object'),
  },
};

/** The same as callers see it: the members that tools replaced are rewritten before the schema looks at them. */
export const CHAT_CALLER_SCHEMA = {
  ...CHAT_REQUEST_SCHEMA,
  properties: {
    ...CHAT_REQUEST_SCHEMA.properties,
    functions: {
      type: ['array', 'null'],
      deprecated: true,
      description: 'The form that tools replaced.',
      items: {
        type: 'object',
        required: ['name'],
        properties: { name: text, description: text, parameters: { ...object, additionalProperties: true } },
      },
    },
    function_call: {
      deprecated: true,
      description: 'The form that tool_choice replaced: none, auto or the name of a function.',
      anyOf: [
        { type: ['string', 'null'] },
        { type: 'object', required: ['name'], properties: { name: text } },
      ],
    },
  },
};

/** Names of every parameter that the schema knows. */
export const KNOWN_PARAMS: ReadonlySet<string> = new Set(Object.keys(CHAT_REQUEST_SCHEMA.properties));

export const requestSchema = new LazySchema(CHAT_REQUEST_SCHEMA, {
  strict: false,
  discriminator: true,
  coerceTypes: false,
  useDefaults: false,
  removeAdditional: false,
  allErrors: false,
});

/** The first fault of a body against the schema and the rules between members, null where there is none. */
export function requestFault(value: JsonObject): ErrorDetail | null {
  const { validate } = requestSchema;
  return validate(value) ? ruleFault(value) : schemaFault(validate.errors?.[0]);
}

/** Rules between the members of a request that satisfied the schema; the first that is broken. */
function ruleFault(value: JsonObject): ErrorDetail | null {
  const { max_tokens, max_completion_tokens, reasoning, stream, modalities } = value;
  if (max_tokens != null && max_completion_tokens != null && max_tokens !== max_completion_tokens)
    return fault('conflict', ['max_tokens'], 'max_tokens and max_completion_tokens are different');
  if (value.top_logprobs != null && value.logprobs !== true)
    return fault('conflict', ['top_logprobs'], 'top_logprobs needs logprobs: true');
  if (value.stream_options != null && stream !== true)
    return fault('conflict', ['stream_options'], 'stream_options needs stream: true');
  const { effort, max_tokens: budget } = objectOf(reasoning);
  if (effort != null && budget != null)
    return fault('conflict', ['reasoning'], 'effort and max_tokens cannot be sent together');
  if (Array.isArray(modalities) && modalities.includes('audio') && !isObject(value.audio))
    return fault('missing', ['audio'], 'audio is required with the modality audio');
  return value.tool_choice == null ? null : toolChoiceFault(value);
}

function toolChoiceFault(value: JsonObject): ErrorDetail | null {
  const choice = value.tool_choice;
  const names = new Set(objectsOf(value.tools).map(nameOf));
  if (!isObject(choice)) {
    return choice === 'required' && names.size === 0
      ? fault('conflict', ['tool_choice'], 'tool_choice needs tools')
      : null;
  }
  if (choice.type !== 'allowed_tools')
    return names.has(nameOf(choice))
      ? null
      : fault('unknown_tool', ['tool_choice', String(choice.type), 'name'], 'no such tool in tools');
  const missing = objectsOf(objectOf(choice.allowed_tools).tools).findIndex(
    (tool) => !names.has(nameOf(tool)),
  );
  return missing < 0
    ? null
    : fault('unknown_tool', ['tool_choice', 'allowed_tools', 'tools', missing], 'no such tool in tools');
}

function nameOf(tool: JsonObject): unknown {
  return objectOf(tool.function ?? tool.custom).name;
}
