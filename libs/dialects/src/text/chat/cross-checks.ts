import type { ErrorDetail } from '@gateway/contracts';
import { isObject, objectOf, objectsOf, type JsonObject } from './json-object.js';

/** Rules between the members of a request that satisfied the schema; the first that is broken. */
export function requestFault(value: JsonObject): ErrorDetail | null {
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
  return toolChoiceFault(value);
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

function fault(type: string, loc: (string | number)[], msg: string): ErrorDetail {
  return { type, loc, msg };
}
