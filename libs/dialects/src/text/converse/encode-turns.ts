import { isObject, objectOf, textOf, type JsonObject } from '../../body/json-object.js';
import type { Turn } from '../model-request.js';
import type { ContentEncoder } from './encode-content.js';

export interface Message {
  role: 'user' | 'assistant';
  content: JsonObject[];
}

const PLACEHOLDER = '(continued)';
const BESIDE_DOCUMENT = 'See the document.';

function isSystem({ role }: Turn): boolean {
  return role === 'system' || role === 'developer';
}

function blocksOf(turn: Turn, index: number, encoder: ContentEncoder): JsonObject[] {
  let calls = -1;
  return turn.parts.flatMap((part) => {
    if (part.type === 'tool_call') calls += 1;
    return encoder.blocks(part, index, calls);
  });
}

/** Blocks that match first, the order kept otherwise. */
function first(blocks: JsonObject[], member: string): JsonObject[] {
  return [...blocks.filter((block) => member in block), ...blocks.filter((block) => !(member in block))];
}

/** A marker stands behind the block that it marks, also where results go ahead of text. */
function resultsFirst(blocks: JsonObject[]): JsonObject[] {
  const isResult = (at: number): boolean =>
    'toolResult' in blocks[at] || ('cachePoint' in blocks[at] && at > 0 && isResult(at - 1));
  const results = blocks.filter((_, at) => isResult(at));
  return results.length === 0 ? blocks : [...results, ...blocks.filter((_, at) => !isResult(at))];
}

/** Turns -> `system` and `messages`: turns of one side become one message. */
export function encodeTurns(
  turns: readonly Turn[],
  encoder: ContentEncoder,
): { system: JsonObject[]; messages: Message[] } {
  const firstOther = turns.findIndex((turn) => !isSystem(turn));
  const leading = firstOther < 0 ? turns.length : firstOther;
  const system = turns.slice(0, leading).flatMap((turn, index) => blocksOf(turn, index, encoder));
  const messages: Message[] = [];
  for (let index = leading; index < turns.length; index += 1) {
    const turn = turns[index];
    const role = turn.role === 'assistant' ? 'assistant' : 'user';
    const content = contentOf(turn, index, encoder);
    if (content.length === 0) continue;
    const last = messages.at(-1);
    if (last?.role === role) last.content.push(...content);
    else messages.push({ role, content });
  }
  for (const message of messages) if (message.role === 'user') finishUser(message);
  if (messages[0]?.role !== 'user') messages.unshift({ role: 'user', content: [{ text: PLACEHOLDER }] });
  const prefill = messages.at(-1);
  if (prefill?.role === 'assistant') trimPrefill(prefill);
  return { system, messages };
}

function contentOf(turn: Turn, index: number, encoder: ContentEncoder): JsonObject[] {
  const blocks = blocksOf(turn, index, encoder);
  // A system turn in mid-conversation stays in its place: hoisting it would break the cached prefix and the order.
  if (isSystem(turn))
    return blocks.map((block) =>
      'text' in block ? { text: `<system>${textOf(block.text)}</system>` } : block,
    );
  return turn.role === 'assistant' ? first(blocks, 'reasoningContent') : blocks;
}

function finishUser(message: Message): void {
  message.content = resultsFirst(message.content);
  const hasText = message.content.some((block) => 'text' in block);
  if (!hasText && message.content.some((block) => 'document' in block))
    message.content.push({ text: BESIDE_DOCUMENT });
}

function trimPrefill({ content }: Message): void {
  const last = content.at(-1);
  if (last && 'text' in last) last.text = textOf(last.text).trimEnd();
}

/** Names of the tools that the history calls. */
export function calledTools(messages: readonly Message[]): string[] {
  const names = messages.flatMap(({ content }) =>
    content.flatMap(({ toolUse }) => (isObject(toolUse) ? [textOf(objectOf(toolUse).name)] : [])),
  );
  return [...new Set(names)];
}
