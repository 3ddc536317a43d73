import { filled, isObject, objectOf, objectsOf, type JsonObject } from '../../body/json-object.js';
import { hostedTool, isClientTool } from './tools.js';

/** Members that name something which was put at a provider before: stores, files, containers, skills. */
const NAMES_OBJECT = /^(?:.+_)?ids?$/;
/** Its `connector_id` is a service of the provider's for everybody; ids within its headers are another server's. */
const ELSEWHERE = 'mcp';

/**
 * The first parameter that names an object at a provider, which a later request could reach with the same credential; null
 * for none. Objects that the request has the provider make are none.
 */
export function objectAtProvider({ prompt, tools }: JsonObject): string | null {
  if (filled(objectOf(prompt).id) !== null) return 'prompt.id';
  if (hostedTool(tools) < 0) return null;
  for (const [at, tool] of objectsOf(tools).entries()) {
    if (isClientTool(tool) || tool.type === 'namespace' || tool.type === ELSEWHERE) continue;
    if (filled(tool.container) !== null) return `tools[${at}].container`;
    const path = named(tool, `tools[${at}]`);
    if (path !== null) return path;
  }
  return null;
}

function named(value: unknown, path: string): string | null {
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) {
      const found = named(item, `${path}[${at}]`);
      if (found !== null) return found;
    }
    return null;
  }
  if (!isObject(value)) return null;
  for (const [name, member] of Object.entries(value)) {
    const isList = Array.isArray(member) && member.length > 0;
    if (NAMES_OBJECT.test(name) && (isList || filled(member) !== null)) return `${path}.${name}`;
    const found = named(member, `${path}.${name}`);
    if (found !== null) return found;
  }
  return null;
}
