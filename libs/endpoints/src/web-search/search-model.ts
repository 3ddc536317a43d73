import { isObject } from '@gateway/dialects';

/**
 * The model behind every web search that names no engine: its routes are the engines. A key whose lists exclude it
 * searches the web neither here nor through a chat request.
 */
export const SEARCH_MODEL = 'gateway/web-search';

/** A text request that asks its provider to search the web, in the words of any of the three formats. */
export function searchesWeb({
  tools,
  input,
  web_search_options: options,
}: Readonly<Record<string, unknown>>): boolean {
  if (options != null || haveSearch(tools)) return true;
  // Items of responses bring tools, too.
  return Array.isArray(input) && input.some((item: unknown) => isObject(item) && haveSearch(item.tools));
}

function haveSearch(tools: unknown): boolean {
  if (!Array.isArray(tools)) return false;
  return tools.some(
    (tool: unknown) => isObject(tool) && typeof tool.type === 'string' && tool.type.startsWith('web_search'),
  );
}
