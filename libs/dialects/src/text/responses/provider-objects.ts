import { filled, isObject, objectOf, type JsonObject } from '../../body/json-object.js';
import { isClientTool, placedTools } from './tools.js';

/** Members that name something which was put at a provider before: stores, files, containers, skills. */
const NAMES_OBJECT = /^(?:.+_)?ids?$/;
/** Its `connector_id` is a service of the provider's for everybody; ids within its headers are another server's. */
const ELSEWHERE = 'mcp';
const SCREENSHOT = 'computer_call_output';

/**
 * The first parameter that names an object at a provider, which a later request could reach with the same credential; null
 * for none. Objects that the request has the provider make are none.
 */
export function objectAtProvider(body: JsonObject): string | null {
  if (filled(objectOf(body.prompt).id) !== null) return 'prompt.id';
  for (const { tool, path } of placedTools(body)) {
    if (isClientTool(tool) || tool.type === 'namespace' || tool.type === ELSEWHERE) continue;
    if (filled(tool.container) !== null) return `${path}.container`;
    const found = named(tool, path);
    if (found !== null) return found;
  }
  return screenshot(body.input);
}

/** A picture of a screen by its id: of the items that only this format has, the one that a caller shows a file with. */
function screenshot(input: unknown): string | null {
  if (!Array.isArray(input)) return null;
  const at = input.findIndex(
    (item: unknown) =>
      isObject(item) && item.type === SCREENSHOT && filled(objectOf(item.output).file_id) !== null,
  );
  return at < 0 ? null : `input[${at}].output.file_id`;
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
