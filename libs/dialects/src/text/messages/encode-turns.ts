import type { JsonObject } from '../../body/json-object.js';
import type { FileReference, ModelRequest, Turn } from '../model-request.js';
import { blockOf } from './encode-content.js';
import { textAt } from './json.js';

interface Message {
  role: 'user' | 'assistant';
  content: JsonObject[];
}

/** The caller's turns, and the files that they name. */
type Sent = Pick<ModelRequest, 'turns' | 'files'>;

/** Stands where this dialect needs a user turn and the caller has none. */
const PLACEHOLDER = { type: 'text', text: '(continued)' };

function isSystem({ role }: Turn): boolean {
  return role === 'system' || role === 'developer';
}

function blocksOf(turn: Turn, index: number, files: readonly FileReference[]): JsonObject[] {
  let calls = -1;
  return turn.parts
    .map((part) => {
      if (part.type === 'tool_call') calls += 1;
      return blockOf(part, index, calls, files);
    })
    .filter((block) => block !== null);
}

/** A system turn in mid-conversation stays in its place: hoisting it would break the cached prefix and the order. */
function wrapped(blocks: JsonObject[]): JsonObject[] {
  return blocks.map((block) => ({ ...block, text: `<system>${textAt(block, 'text')}</system>` }));
}

function isThinking({ type }: JsonObject): boolean {
  return type === 'thinking' || type === 'redacted_thinking';
}

/** Blocks that match first, the order kept otherwise. */
function first(blocks: JsonObject[], matches: (block: JsonObject) => boolean): JsonObject[] {
  return [...blocks.filter(matches), ...blocks.filter((block) => !matches(block))];
}

/** A prefill must not end in whitespace. */
function trimPrefill(message: Message): void {
  const last = message.content.at(-1);
  if (last?.type !== 'text') return;
  last.text = textAt(last, 'text').trimEnd();
}

function merged({ turns, files }: Sent, from: number): Message[] {
  const messages: Message[] = [];
  for (let index = from; index < turns.length; index += 1) {
    const turn = turns[index];
    const role = turn.role === 'assistant' ? 'assistant' : 'user';
    const blocks = blocksOf(turn, index, files);
    const content = isSystem(turn)
      ? wrapped(blocks)
      : role === 'assistant'
        ? first(blocks, isThinking)
        : blocks;
    const last = messages.at(-1);
    if (last?.role === role) last.content.push(...content);
    else messages.push({ role, content });
  }
  return messages;
}

/**
 * Turns -> `system` and `messages`: leading system turns become blocks; turns of one side become one message with every
 * tool_result ahead of its text. The conversation begins with the user.
 */
export function encodeTurns({ turns, files }: Sent): { system: JsonObject[]; messages: Message[] } {
  const firstOther = turns.findIndex((turn) => !isSystem(turn));
  const leading = firstOther < 0 ? turns.length : firstOther;
  const system = turns.slice(0, leading).flatMap((turn, index) => blocksOf(turn, index, files));
  const all = merged({ turns, files }, leading);
  const prefill = all.at(-1);
  if (prefill?.role === 'assistant') trimPrefill(prefill);
  if (prefill?.role === 'user' && prefill.content.length === 0) prefill.content.push({ ...PLACEHOLDER });
  const messages: Message[] = [];
  for (const message of all) {
    if (message.content.length === 0) continue;
    const content =
      message.role === 'user'
        ? first(message.content, ({ type }) => type === 'tool_result')
        : message.content;
    const last = messages.at(-1);
    // A message that was dropped as empty may have stood between two of one side.
    if (last?.role === message.role) last.content.push(...content);
    else messages.push({ role: message.role, content });
  }
  if (messages[0]?.role !== 'user') messages.unshift({ role: 'user', content: [{ ...PLACEHOLDER }] });
  return { system, messages };
}
