import type { ApiError } from '@gateway/contracts';
import { spellBody } from '@gateway/json-body';
import { filled, isObject, objectOf, objectsOf, type JsonObject } from '../../body/json-object.js';
import type { ModelRequest } from '../model-request.js';
import type { TextFacts } from '../text-dialect.js';

export interface ResponseState {
  id: string;
  createdAt: number;
  serviceTier: string;
  status: 'queued' | 'in_progress' | 'completed' | 'incomplete' | 'failed';
  completedAt: number | null;
  output: readonly JsonObject[];
  usage: JsonObject | null;
  error: JsonObject | null;
  incompleteReason: string | null;
}

/** The response object with every setting of the request echoed, as SDKs read them back. */
export function responseObject(
  state: ResponseState,
  { body }: ModelRequest,
  facts: Pick<TextFacts, 'model'>,
): JsonObject {
  spellBody(body);
  const { value } = body;
  const orNull = (name: string): unknown => value[name] ?? null;
  const text = objectOf(value.text);
  const conversation = filled(value.conversation) ?? filled(objectOf(value.conversation).id);
  return {
    id: state.id,
    object: 'response',
    created_at: state.createdAt,
    status: state.status,
    background: value.background === true,
    completed_at: state.completedAt,
    error: state.error,
    incomplete_details: state.incompleteReason === null ? null : { reason: state.incompleteReason },
    instructions: orNull('instructions'),
    max_output_tokens: orNull('max_output_tokens'),
    max_tool_calls: orNull('max_tool_calls'),
    model: facts.model,
    output: state.output,
    parallel_tool_calls: value.parallel_tool_calls ?? true,
    previous_response_id: orNull('previous_response_id'),
    ...(conversation === null ? {} : { conversation: { id: conversation } }),
    prompt_cache_key: orNull('prompt_cache_key'),
    prompt_cache_retention: orNull('prompt_cache_retention'),
    reasoning: { effort: null, summary: null, ...objectOf(value.reasoning) },
    safety_identifier: orNull('safety_identifier'),
    service_tier: state.serviceTier,
    store: value.store ?? true,
    temperature: value.temperature ?? 1,
    text: {
      format: isObject(text.format) ? formatOf(text.format) : { type: 'text' },
      verbosity: text.verbosity ?? 'medium',
    },
    tool_choice: value.tool_choice ?? 'auto',
    tools: objectsOf(value.tools).map(toolOf),
    top_logprobs: value.top_logprobs ?? 0,
    top_p: value.top_p ?? 1,
    presence_penalty: 0,
    frequency_penalty: 0,
    truncation: value.truncation ?? 'disabled',
    usage: state.usage,
    user: orNull('user'),
    metadata: objectOf(value.metadata),
  };
}

/** Returns the answer to a request that is run later. */
export function queuedResponse(
  request: ModelRequest,
  { id, createdAt, model }: { id: string; createdAt: number; model: string },
): JsonObject {
  const nothing = { completedAt: null, output: [], usage: null, error: null, incompleteReason: null };
  const serviceTier = request.serviceTier === 'flex' ? 'flex' : 'default';
  return responseObject({ id, createdAt, serviceTier, status: 'queued', ...nothing }, request, { model });
}

/** Returns the code that clients branch on where a response has failed: OpenAI's words. */
export function failedCode({ code, options }: ApiError): string {
  const limited = code === 'rate_limit_exceeded' || options.providerCode === 'rate_limit_exceeded';
  return limited ? 'rate_limit_exceeded' : 'server_error';
}

function formatOf(format: JsonObject): JsonObject {
  return format.type === 'json_schema' ? { description: null, strict: false, ...format } : format;
}

/** The echo of a function has all its members. */
function toolOf(tool: JsonObject): JsonObject {
  if (tool.type !== 'function') return tool;
  return {
    ...tool,
    description: tool.description ?? null,
    parameters: tool.parameters ?? null,
    strict: tool.strict ?? false,
  };
}
