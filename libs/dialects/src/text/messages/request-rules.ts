import { isObject, type JsonObject } from '../../body/json-object.js';
import { fault } from '../../body/read-json.js';
import type { ErrorDetail } from '@gateway/contracts';
import { numberOrNull, objectAt, objectsAt, textAt } from './json.js';

type Loc = (string | number)[];
type Rule = (body: JsonObject) => ErrorDetail | null;

interface PlacedBlock {
  block: JsonObject;
  loc: Loc;
}

/** Blocks of the messages with their place; string contents have none. */
function* messageBlocks(body: JsonObject): Generator<PlacedBlock> {
  for (const [index, message] of objectsAt(body, 'messages').entries()) {
    for (const [at, block] of objectsAt(message, 'content').entries()) {
      yield { block, loc: ['messages', index, 'content', at] };
    }
  }
}

/** Everything that may carry a cache marker, in the one order of the prefix: tools, system, messages. */
function* cacheable(body: JsonObject): Generator<PlacedBlock> {
  for (const [index, block] of objectsAt(body, 'tools').entries()) yield { block, loc: ['tools', index] };
  for (const [index, block] of objectsAt(body, 'system').entries()) yield { block, loc: ['system', index] };
  for (const { block, loc } of messageBlocks(body)) {
    for (const [at, inner] of objectsAt(block, 'content').entries()) {
      if (block.type === 'tool_result') yield { block: inner, loc: [...loc, 'content', at] };
    }
    yield { block, loc };
  }
}

const MOST_BREAKPOINTS = 4;

/** Checks for at most 4 breakpoints, and none of an hour after one of 5 minutes (a bare marker is 5 minutes). */
const cacheMarkers: Rule = (body) => {
  let count = isObject(body.cache_control) ? 1 : 0;
  let hasShort = false;
  for (const { block, loc } of cacheable(body)) {
    const marker = block.cache_control;
    if (!isObject(marker)) continue;
    const at = [...loc, 'cache_control'];
    count += 1;
    if (count > MOST_BREAKPOINTS)
      return fault('max_items', at, `at most ${MOST_BREAKPOINTS} blocks may carry cache_control`);
    if (marker.ttl === '1h' && hasShort)
      return fault('breakpoint_order', [...at, 'ttl'], 'a marker of 1h must come before every marker of 5m');
    hasShort ||= marker.ttl !== '1h';
  }
  return null;
};

const emptyTexts: Rule = (body) => {
  const blocks = [
    ...objectsAt(body, 'system').map((block, index) => ({ block, loc: ['system', index] })),
    ...messageBlocks(body),
  ];
  const empty = blocks.find(({ block }) => block.type === 'text' && textAt(block, 'text').trim() === '');
  return empty
    ? fault('empty_text', [...empty.loc, 'text'], 'a text block must not be empty or only whitespace')
    : null;
};

/** Checks that only a last assistant turn is empty: it is a prefill of nothing. */
const emptyMessages: Rule = (body) => {
  const messages = objectsAt(body, 'messages');
  const index = messages.findIndex(({ role, content }, at) => {
    const isEmpty =
      typeof content === 'string' ? content.trim() === '' : Array.isArray(content) && content.length === 0;
    return isEmpty && !(role === 'assistant' && at === messages.length - 1);
  });
  return index < 0 ? null : fault('empty_content', ['messages', index, 'content'], 'must not be empty');
};

/** Files that would stay ids on their way: at a provider they may be another tenant's, and their bytes have no place here. */
const providerFiles: Rule = (body) => {
  for (const { block, loc } of messageBlocks(body)) {
    const found = providerFile(block, loc);
    if (found) return found;
    if (block.type !== 'tool_result') continue;
    for (const [at, inner] of objectsAt(block, 'content').entries()) {
      const within = providerFile(inner, [...loc, 'content', at]);
      if (within) return within;
    }
  }
  return null;
};

function providerFile(block: JsonObject, loc: Loc): ErrorDetail | null {
  if (block.type === 'container_upload')
    return fault('unsupported_block', [...loc, 'type'], 'files cannot be put into a container of a provider');
  const source = objectAt(block, 'source');
  if (block.type !== 'document' || source.type !== 'content') return null;
  const at = objectsAt(source, 'content').findIndex((part) => objectAt(part, 'source').type === 'file');
  const place = [...loc, 'source', 'content', at, 'source', 'type'];
  return at < 0 ? null : fault('unsupported_source', place, 'a document cannot hold files by their ids');
}

const toolNames: Rule = (body) => {
  const seen = new Set<unknown>();
  for (const [index, { name }] of objectsAt(body, 'tools').entries()) {
    if (name !== undefined && seen.has(name))
      return fault('duplicate_tool', ['tools', index, 'name'], 'tool names must be unique');
    seen.add(name);
  }
  const choice = objectAt(body, 'tool_choice');
  if (choice.type === 'tool' && !seen.has(choice.name))
    return fault('unknown_tool', ['tool_choice', 'name'], 'no tool has this name');
  if (choice.type === 'any' && seen.size === 0)
    return fault('unknown_tool', ['tool_choice'], 'there are no tools to choose from');
  return null;
};

const thinkingBudget: Rule = (body) => {
  const thinking = objectAt(body, 'thinking');
  if (thinking.type !== 'enabled') return null;
  const budget = numberOrNull(thinking, 'budget_tokens') ?? 0;
  if (budget >= (numberOrNull(body, 'max_tokens') ?? 0))
    return fault('maximum', ['thinking', 'budget_tokens'], 'must be less than max_tokens');
  const { type } = objectAt(body, 'tool_choice');
  return type === 'any' || type === 'tool'
    ? fault(
        'forced_tool_with_thinking',
        ['tool_choice', 'type'],
        'thinking may not be enabled with a forced tool',
      )
    : null;
};

/** Every tool_use is answered by the user turn that follows it, and every tool_result answers one. */
class ToolPairing {
  private readonly seen = new Set<string>();
  private readonly open = new Map<string, Loc>();

  check(body: JsonObject): ErrorDetail | null {
    let role = '';
    let answered = new Set<string>();
    for (const [index, message] of objectsAt(body, 'messages').entries()) {
      if (message.role !== role) {
        // Turns of one role are one turn; when the user's ends, its results must be complete.
        const isAnswer = role === 'assistant' && message.role === 'user';
        const missing = isAnswer ? null : this.unanswered(answered);
        if (missing) return missing;
        if (!isAnswer) this.open.clear();
        answered = new Set();
        role = textAt(message, 'role');
      }
      const found = this.message(message, index, answered);
      if (found) return found;
    }
    return this.unanswered(answered);
  }

  private unanswered(answered: ReadonlySet<string>): ErrorDetail | null {
    for (const [id, loc] of this.open) {
      if (!answered.has(id))
        return fault('unanswered_tool_call', loc, 'the next user turn has no tool_result for this tool_use');
    }
    return null;
  }

  private message(message: JsonObject, index: number, answered: Set<string>): ErrorDetail | null {
    for (const [at, block] of objectsAt(message, 'content').entries()) {
      const loc: Loc = ['messages', index, 'content', at];
      const found =
        block.type === 'tool_use'
          ? this.use(message, textAt(block, 'id'), loc)
          : block.type === 'tool_result'
            ? this.result(message, textAt(block, 'tool_use_id'), loc, answered)
            : null;
      if (found) return found;
    }
    return null;
  }

  private use(message: JsonObject, id: string, loc: Loc): ErrorDetail | null {
    if (message.role !== 'assistant')
      return fault('misplaced_block', loc, 'a tool_use stands in an assistant message');
    if (this.seen.has(id)) return fault('duplicate_id', [...loc, 'id'], 'tool_use ids must be unique');
    this.seen.add(id);
    this.open.set(id, loc);
    return null;
  }

  private result(message: JsonObject, id: string, loc: Loc, answered: Set<string>): ErrorDetail | null {
    const at = [...loc, 'tool_use_id'];
    if (message.role !== 'user')
      return fault('misplaced_block', loc, 'a tool_result stands in a user message');
    if (!this.open.has(id))
      return fault('unknown_tool_call', at, 'the assistant turn before has no tool_use of this id');
    if (answered.has(id)) return fault('duplicate_id', at, 'this tool_use has been answered already');
    answered.add(id);
    return null;
  }
}

const RULES: readonly Rule[] = [
  emptyMessages,
  emptyTexts,
  providerFiles,
  toolNames,
  thinkingBudget,
  cacheMarkers,
  (body) => new ToolPairing().check(body),
];

/** The first fault that takes more than one member to see, null where there is none. */
export function ruleFault(body: JsonObject): ErrorDetail | null {
  for (const rule of RULES) {
    const found = rule(body);
    if (found) return found;
  }
  return null;
}
