import type { ErrorDetail } from '@gateway/contracts';
import { LazySchema } from '../../body/lazy-schema.js';
import { filled, isObject, objectsOf, textOf, type JsonObject } from '../../body/json-object.js';
import { fault, schemaFault } from '../../body/read-json.js';
import { clientTools, flatName } from './tools.js';

const nullable = (type: string, more: object = {}): object => ({ type: [type, 'null'], ...more });
const nullableEnum = (...values: string[]): object => ({ type: ['string', 'null'], enum: [...values, null] });
const text = { type: 'string' };
const typed = { type: 'object', required: ['type'], properties: { type: text } };

/** Parameters of POST /v1/responses. Items and tools are read by hand; others are let by. */
export const RESPONSES_REQUEST_SCHEMA = {
  type: 'object',
  properties: {
    model: { type: ['string', 'null'], minLength: 1, maxLength: 256 },
    input: { type: ['string', 'array', 'null'], items: { type: 'object' } },
    instructions: nullable('string'),
    previous_response_id: nullable('string', { minLength: 1, maxLength: 256 }),
    conversation: {
      type: ['string', 'object', 'null'],
      maxLength: 256,
      required: ['id'],
      properties: { id: { type: 'string', minLength: 1, maxLength: 256 } },
    },
    store: nullable('boolean'),
    background: nullable('boolean'),
    stream: nullable('boolean'),
    stream_options: nullable('object', { properties: { include_obfuscation: nullable('boolean') } }),
    include: { type: ['array', 'null'], items: text, maxItems: 32 },
    max_output_tokens: nullable('integer', { minimum: 1 }),
    max_tool_calls: nullable('integer', { minimum: 0 }),
    temperature: nullable('number', { minimum: 0, maximum: 2 }),
    top_p: nullable('number', { minimum: 0, maximum: 1 }),
    top_logprobs: nullable('integer', { minimum: 0, maximum: 20 }),
    truncation: nullableEnum('auto', 'disabled'),
    reasoning: nullable('object', {
      properties: {
        effort: nullableEnum('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'),
        summary: nullableEnum('auto', 'concise', 'detailed'),
      },
    }),
    text: nullable('object', {
      properties: {
        verbosity: nullableEnum('low', 'medium', 'high'),
        format: nullable('object', {
          required: ['type'],
          properties: { type: { enum: ['text', 'json_object', 'json_schema'] } },
          if: { properties: { type: { const: 'json_schema' } }, required: ['type'] },
          then: {
            required: ['name', 'schema'],
            properties: {
              name: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' },
              schema: { type: 'object' },
              strict: nullable('boolean'),
              description: nullable('string'),
            },
          },
        }),
      },
    }),
    tools: { type: ['array', 'null'], items: typed, maxItems: 1_024 },
    tool_choice: {
      type: ['string', 'object', 'null'],
      if: { type: ['string', 'null'] },
      then: { enum: ['none', 'auto', 'required', null] },
      else: typed,
    },
    parallel_tool_calls: nullable('boolean'),
    metadata: nullable('object', {
      maxProperties: 16,
      propertyNames: { maxLength: 64 },
      additionalProperties: { type: 'string', maxLength: 512 },
    }),
    safety_identifier: nullable('string', { maxLength: 64 }),
    user: nullable('string'),
    service_tier: nullableEnum('auto', 'default', 'flex'),
    prompt: nullable('object', { required: ['id'], properties: { id: text } }),
    prompt_cache_key: nullable('string'),
    prompt_cache_retention: nullable('string'),
    prompt_cache_options: nullable('object'),
    moderation: nullable('object'),
    context_management: { type: ['array', 'null'], items: typed },
    template: nullable('string'),
    template_version: nullable('string'),
    variables: nullable('object'),
  },
};

/** Names of every parameter that the schema knows. */
export const KNOWN_PARAMS: ReadonlySet<string> = new Set(Object.keys(RESPONSES_REQUEST_SCHEMA.properties));

export const requestSchema = new LazySchema(RESPONSES_REQUEST_SCHEMA, { strict: false });

const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** The first fault of a body against the schema and the rules between members, null where there is none. */
export function requestFault(value: JsonObject): ErrorDetail | null {
  const { validate } = requestSchema;
  if (!validate(value)) return schemaFault(validate.errors?.[0]);
  const hasContext = filled(value.previous_response_id) !== null || value.conversation != null;
  if (value.input == null && !hasContext && value.prompt == null)
    return fault('missing', ['input'], 'field required');
  if (value.conversation != null && filled(value.previous_response_id) !== null)
    return fault(
      'conflict',
      ['previous_response_id'],
      'previous_response_id and conversation cannot be sent together',
    );
  if (value.stream_options != null && value.stream !== true)
    return fault('conflict', ['stream_options'], 'stream_options needs stream: true');
  if (value.background === true && value.store === false)
    return fault('conflict', ['store'], 'background needs store: true');
  return toolFault(value) ?? toolChoiceFault(value);
}

function toolFault({ tools }: JsonObject): ErrorDetail | null {
  const seen = new Set<string>();
  for (const [position, tool] of objectsOf(tools).entries()) {
    const isNamespace = tool.type === 'namespace';
    const inner: unknown[] = !isNamespace ? [tool] : Array.isArray(tool.tools) ? tool.tools : [];
    for (const [at, one] of inner.entries()) {
      const place = ['tools', position, ...(isNamespace ? ['tools', at] : [])];
      if (!isObject(one)) return fault('wrong_type', place, 'must be object');
      const { type, name } = one;
      if (typeof type !== 'string') return fault('missing', [...place, 'type'], 'field required');
      if (type !== 'function' && type !== 'custom') continue;
      const loc = ['tools', position, 'name'];
      if (typeof name !== 'string') return fault('missing', loc, 'field required');
      if (!TOOL_NAME.test(name)) return fault('pattern', loc, `must match ${TOOL_NAME.source}`);
      const flat = flatName(name, tool.type === 'namespace' ? textOf(tool.name) : null);
      if (seen.has(flat)) return fault('duplicate_tool', loc, 'tool names must be unique');
      seen.add(flat);
    }
  }
  return null;
}

function toolChoiceFault({ tools, tool_choice: choice }: JsonObject): ErrorDetail | null {
  const names = new Set(clientTools(tools).map(({ name }) => name));
  if (!isObject(choice))
    return choice === 'required' && objectsOf(tools).length === 0
      ? fault('conflict', ['tool_choice'], 'tool_choice needs tools')
      : null;
  const nameOf = (tool: JsonObject): string => flatName(textOf(tool.name), filled(tool.namespace));
  const isClient = ({ type }: JsonObject): boolean => type === 'function' || type === 'custom';
  if (isClient(choice) && !names.has(nameOf(choice)))
    return fault('unknown_tool', ['tool_choice', 'name'], 'no such tool in tools');
  if (choice.type !== 'allowed_tools') return null;
  const allowed: unknown[] = Array.isArray(choice.tools) ? choice.tools : [];
  for (const [at, tool] of allowed.entries()) {
    const loc = ['tool_choice', 'tools', at];
    if (!isObject(tool)) return fault('wrong_type', loc, 'must be object');
    if (typeof tool.type !== 'string') return fault('missing', [...loc, 'type'], 'field required');
    if (isClient(tool) && !names.has(nameOf(tool)))
      return fault('unknown_tool', loc, 'no such tool in tools');
  }
  return null;
}
