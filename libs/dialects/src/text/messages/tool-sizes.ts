import { textAt, type JsonObject } from './json.js';

const BYTES_PER_TOKEN = 4;
/** Instructions that providers of this dialect put before tools: the most that Anthropic names for one of its models. */
const INSTRUCTIONS_TOKENS = 530;
/** Tokens that Anthropic adds for tools of its own, by the beginning of their type. */
const OWN_TOKENS: Readonly<Record<string, number>> = { bash_: 245, text_editor_: 700, computer_: 735 };

/** Bytes of an estimate that tools weigh at such a provider beside the text of the caller's own; nothing without tools. */
export function addedByTools(
  tools: readonly JsonObject[],
  isClientTool: (tool: JsonObject) => boolean,
): { nativeBytes?: number } {
  if (tools.length === 0) return {};
  const own = tools.filter((tool) => !isClientTool(tool));
  return {
    nativeBytes: own.reduce((bytes, tool) => bytes + ownBytes(tool), INSTRUCTIONS_TOKENS * BYTES_PER_TOKEN),
  };
}

function ownBytes(tool: JsonObject): number {
  const type = textAt(tool, 'type');
  const [, tokens = 0] = Object.entries(OWN_TOKENS).find(([name]) => type.startsWith(name)) ?? [];
  return Buffer.byteLength(JSON.stringify(tool)) + tokens * BYTES_PER_TOKEN;
}
