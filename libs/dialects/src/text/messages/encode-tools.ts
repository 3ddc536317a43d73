import type { JsonObject } from '../../body/json-object.js';
import type { ModelRequest, Tool } from '../model-request.js';
import { plainTool } from '../plain-schema.js';
import { cacheControl } from './cache-markers.js';
import { unsupported } from './encode-content.js';
import { outputSchema } from './output-schema.js';
import { objectAt, textAt } from './json.js';

function toolOf(given: Tool): JsonObject {
  if (given.custom) throw unsupported('tools', 'custom tools cannot be sent to this provider');
  const tool = plainTool(given);
  return {
    name: tool.name,
    ...(tool.description === undefined ? {} : { description: tool.description }),
    // Strict tools are compiled to a grammar, which knows the words of structured output only.
    input_schema: tool.strict === true ? outputSchema(tool.parameters) : tool.parameters,
    ...(tool.strict === true ? { strict: true } : {}),
    ...cacheControl(tool.cache),
  };
}

function choiceOf(request: ModelRequest): JsonObject | null {
  const { toolChoice } = request;
  switch (toolChoice?.mode) {
    case 'auto':
    case 'none':
      return { type: toolChoice.mode };
    case 'required':
      return { type: 'any' };
    case 'named':
      return { type: 'tool', name: toolChoice.name };
    case 'allowed':
      return { type: toolChoice.required ? 'any' : 'auto' };
    case undefined:
      return null;
  }
}

/** Number of searches of a model, by how much of the web it is to see. */
const SEARCHES = { low: 1, medium: 5, high: 10 } as const;
const PLACE = ['city', 'region', 'country', 'timezone'];

/** The provider's own search, as `web_search_options` of chat completions ask for it. */
function searchTool(request: ModelRequest): JsonObject[] {
  if (!request.requires.some(({ capability }) => capability === 'web_search')) return [];
  // Its name is not to be chosen.
  const at = request.tools.findIndex(({ name }) => name === 'web_search');
  if (at >= 0)
    throw unsupported(
      `tools[${at}].function.name`,
      `tools[${at}].function.name: a tool named web_search cannot stand beside web_search_options`,
    );
  const options = objectAt(request.body.value, 'web_search_options');
  const size = options.search_context_size;
  const place = objectAt(objectAt(options, 'user_location'), 'approximate');
  const known = PLACE.filter((name) => textAt(place, name) !== '').map((name) => [name, place[name]]);
  const location = { type: 'approximate', ...(Object.fromEntries(known) as JsonObject) };
  return [
    {
      type: 'web_search_20250305',
      name: 'web_search',
      max_uses: SEARCHES[size === 'low' || size === 'high' ? size : 'medium'],
      ...(known.length === 0 ? {} : { user_location: location }),
    },
  ];
}

/** `tools` and `tool_choice`; nothing without tools, because a choice among none is a 400. */
export function encodeTools(request: ModelRequest): { tools?: JsonObject[]; tool_choice?: JsonObject } {
  const { toolChoice } = request;
  const allowed = toolChoice?.mode === 'allowed' ? new Set(toolChoice.names) : null;
  const own = request.tools.filter(({ name }) => allowed?.has(name) ?? true).map(toolOf);
  const tools = [...own, ...searchTool(request)];
  if (tools.length === 0) return {};
  const choice = choiceOf(request);
  if (request.parallelToolCalls !== false || choice?.type === 'none')
    return { tools, ...(choice ? { tool_choice: choice } : {}) };
  return { tools, tool_choice: { ...(choice ?? { type: 'auto' }), disable_parallel_tool_use: true } };
}
