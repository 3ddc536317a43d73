import { filled, isObject, objectOf, objectsOf, textOf, type JsonObject } from '../../body/json-object.js';
import type { Tool, ToolChoice } from '../model-request.js';
import { plainTool } from '../plain-schema.js';

/** Mark between a namespace and the name of a tool in it, for formats without namespaces. */
const NAMESPACE_MARK = '__';
const IMAGE_GENERATION = 'image_generation';

/** A tool of the caller with the name by which the middle form knows it. */
export interface NamedTool {
  tool: JsonObject;
  name: string;
  namespace: string | null;
}

export function flatName(name: string, namespace: string | null): string {
  return namespace === null ? name : `${namespace}${NAMESPACE_MARK}${name}`;
}

/** Functions and custom tools, those of namespaces among them. Hosted tools are the provider's own. */
export function clientTools(tools: unknown): NamedTool[] {
  return objectsOf(tools).flatMap((tool): NamedTool[] => {
    if (isClientTool(tool)) return [{ tool, name: textOf(tool.name), namespace: null }];
    if (tool.type !== 'namespace') return [];
    const namespace = textOf(tool.name);
    return objectsOf(tool.tools)
      .filter(isClientTool)
      .map((inner) => ({ tool: inner, name: flatName(textOf(inner.name), namespace), namespace }));
  });
}

/** Member of the first tool whose input is text; null for none. */
export function customTool(tools: unknown): string | null {
  for (const [at, tool] of objectsOf(tools).entries()) {
    if (tool.type === 'custom') return `tools[${at}].type`;
    const inner = tool.type === 'namespace' ? objectsOf(tool.tools).findIndex(isCustom) : -1;
    if (inner >= 0) return `tools[${at}].tools[${inner}].type`;
  }
  return null;
}

function isCustom({ type }: JsonObject): boolean {
  return type === 'custom';
}

export function isClientTool({ type }: JsonObject): boolean {
  return type === 'function' || type === 'custom';
}

/** Items that name the tools of a server elsewhere bring none. */
const LISTS_ONLY = 'mcp_list_tools';

/** Tools of a request, with those that items of its input bring, each by its place. */
export function placedTools({ tools, input }: JsonObject): { tool: JsonObject; path: string }[] {
  const placed = objectsOf(tools).map((tool, at) => ({ tool, path: `tools[${at}]` }));
  if (!Array.isArray(input)) return placed;
  for (const [position, item] of (input as unknown[]).entries()) {
    if (!isObject(item) || item.tools === undefined || item.type === LISTS_ONLY) continue;
    for (const [at, tool] of objectsOf(item.tools).entries())
      placed.push({ tool, path: `input[${position}].tools[${at}]` });
  }
  return placed;
}

/** The first tool whose work a provider bills at the prices of another model, none of which are here; null for none. */
export function unpricedTool(body: JsonObject): { param: string; value: string } | null {
  const found = placedTools(body).find(({ tool }) => tool.type === IMAGE_GENERATION);
  return found === undefined ? null : { param: `${found.path}.type`, value: IMAGE_GENERATION };
}

/** Members, beside the tools themselves, that name tools which only an upstream of this dialect runs; null for none. */
export function hostedElsewhere({ tools, tool_choice: choice }: JsonObject): string | null {
  for (const [at, tool] of objectsOf(tools).entries()) {
    if (tool.type !== 'namespace') continue;
    const inner = objectsOf(tool.tools).findIndex((one) => !isClientTool(one));
    if (inner >= 0) return `tools[${at}].tools[${inner}].type`;
  }
  const allowed = objectsOf(objectOf(choice).tools).findIndex((one) => !isClientTool(one));
  return allowed < 0 ? null : `tool_choice.tools[${allowed}].type`;
}

/** Position of the first tool that only an upstream of this dialect runs, and that cannot be left out; -1 for none. */
export function hostedTool(body: JsonObject): number {
  const offered = cachedSearch(body);
  return objectsOf(body.tools).findIndex(
    (tool, at) => at !== offered && !isClientTool(tool) && tool.type !== 'namespace',
  );
}

/**
 * Position of a search of what its provider has kept, which the model is free not to use; -1 for none. Codex offers it with
 * every request. No other provider has one: there it finds nothing, which a model without it finds, too.
 */
export function cachedSearch({ tools, tool_choice: choice }: JsonObject): number {
  const all = objectsOf(tools);
  const isFree = choice == null || choice === 'auto' || choice === 'none' || isClientTool(objectOf(choice));
  if (!isFree && !(choice === 'required' && clientTools(tools).length > 0)) return -1;
  return all.findIndex(
    ({ type, external_web_access }) => type === 'web_search' && external_web_access === false,
  );
}

export function readTool({ tool, name }: NamedTool): Tool {
  const description = filled(tool.description);
  const custom = tool.type === 'custom';
  return {
    name,
    ...(description === null ? {} : { description }),
    ...(!custom && isObject(tool.parameters) ? { parameters: tool.parameters } : {}),
    ...(!custom && typeof tool.strict === 'boolean' ? { strict: tool.strict } : {}),
    ...(custom ? { custom: isObject(tool.format) ? { format: chatFormat(tool.format) } : {} } : {}),
  };
}

/** The middle form has the grammar of a custom tool as chat writes it. */
function chatFormat(format: JsonObject): JsonObject {
  if (format.type !== 'grammar') return format;
  const { type, ...grammar } = format;
  return { type, grammar };
}

function ownFormat(format: unknown): JsonObject {
  const { type, grammar } = objectOf(format);
  return { type, ...objectOf(grammar) };
}

export function readToolChoice(choice: unknown): ToolChoice | null {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { mode: choice };
  if (!isObject(choice)) return null;
  if (choice.type === 'allowed_tools') {
    const names = objectsOf(choice.tools).map((tool) => flatName(textOf(tool.name), filled(tool.namespace)));
    return { mode: 'allowed', required: choice.mode === 'required', names };
  }
  if (choice.type !== 'function' && choice.type !== 'custom') return null;
  return { mode: 'named', name: flatName(textOf(choice.name), filled(choice.namespace)) };
}

export function encodeTool(given: Tool): JsonObject {
  const tool = plainTool(given);
  const description = tool.description === undefined ? {} : { description: tool.description };
  if (tool.custom) {
    const format = isObject(tool.custom.format) ? { format: ownFormat(tool.custom.format) } : {};
    return { type: 'custom', name: tool.name, ...description, ...format };
  }
  // Absent means strict here, and most schemas were not written for that.
  const strict = tool.strict ?? false;
  return { type: 'function', name: tool.name, ...description, parameters: tool.parameters, strict };
}

export function encodeToolChoice(choice: ToolChoice | null, tools: readonly Tool[]): unknown {
  const named = (name: string): JsonObject => {
    const isCustom = tools.some((tool) => tool.name === name && tool.custom !== undefined);
    return { type: isCustom ? 'custom' : 'function', name };
  };
  if (choice === null) return null;
  switch (choice.mode) {
    case 'named':
      return named(choice.name);
    case 'allowed':
      return {
        type: 'allowed_tools',
        mode: choice.required ? 'required' : 'auto',
        tools: choice.names.map(named),
      };
    default:
      return choice.mode;
  }
}
