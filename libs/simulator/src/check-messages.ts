import { createHash } from 'node:crypto';
import { anthropicError } from './errors-anthropic.js';
import type { NativeError } from './error-table.js';
import { isList, objectOf, objectsOf, textOf, type JsonObject } from './json.js';
import type { Script } from './script.js';

const TOP_LEVEL = new Set(
  (
    'model max_tokens messages system tools tool_choice thinking output_config temperature top_p top_k ' +
    'stop_sequences stream metadata service_tier cache_control container context_management mcp_servers ' +
    'inference_geo speed diagnostics fallbacks'
  ).split(' '),
);
const CLIENT_TOOL = new Set(
  'name description input_schema strict cache_control eager_input_streaming input_examples defer_loading allowed_callers type'.split(
    ' ',
  ),
);
const BLOCK_KEYS: Readonly<Record<string, ReadonlySet<string>>> = {
  text: new Set('type text citations cache_control'.split(' ')),
  image: new Set('type source cache_control transformations'.split(' ')),
  document: new Set('type source title context citations cache_control'.split(' ')),
  thinking: new Set('type thinking signature'.split(' ')),
  redacted_thinking: new Set('type data'.split(' ')),
  tool_use: new Set('type id name input caller cache_control'.split(' ')),
  tool_result: new Set('type tool_use_id content is_error cache_control'.split(' ')),
};
const TOOL_ID = /^[a-zA-Z0-9_-]+$/;
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,128}$/;

function invalid(message: string): NativeError {
  return anthropicError(400, 'invalid_request_error', message);
}

/** The first thing Anthropic would refuse in this body, or undefined; `version` is the anthropic-version header. */
export function checkMessagesBody(
  body: JsonObject,
  version: string,
  script: Script,
): NativeError | undefined {
  return (
    checkTopLevel(body) ??
    checkSampling(body, version, script) ??
    checkThinking(body) ??
    checkTools(body) ??
    checkTurns(body, script) ??
    checkCacheControl(body)
  );
}

function checkTopLevel(body: JsonObject): NativeError | undefined {
  for (const key in body) if (!TOP_LEVEL.has(key)) return invalid(`${key}: Extra inputs are not permitted`);
  if (textOf(body.model) === '') return invalid('model: Field required');
  if (body.max_tokens === undefined) return invalid('max_tokens: Field required');
  if (!Number.isInteger(body.max_tokens)) return invalid('max_tokens: Input should be a valid integer');
  if (Number(body.max_tokens) < 0) return invalid('max_tokens: Input should be greater than or equal to 0');
  if (!isList(body.messages)) return invalid('messages: Field required');
  if (body.messages.length === 0) return invalid('messages: at least one message is required');
  if (typeof body.system === 'string') return undefined;
  for (const [index, block] of objectsOf(body.system).entries()) {
    const fault = checkText(block, `system.${index}`);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function checkSampling(body: JsonObject, version: string, script: Script): NativeError | undefined {
  if (version === '2026-10-21') {
    for (const key of ['temperature', 'top_p', 'top_k']) {
      if (body[key] !== undefined) return invalid(`${key}: Extra inputs are not permitted`);
    }
  }
  if (typeof body.temperature === 'number' && (body.temperature < 0 || body.temperature > 1)) {
    return invalid('temperature: range: 0..1');
  }
  if (script.words.has('strict') && body.temperature !== undefined && body.top_p !== undefined) {
    return invalid('`temperature` and `top_p` cannot both be specified for this model. Please use only one.');
  }
  return undefined;
}

function checkThinking(body: JsonObject): NativeError | undefined {
  const thinking = objectOf(body.thinking);
  if (thinking.type !== 'enabled') return undefined;
  const budget = thinking.budget_tokens;
  if (typeof budget !== 'number') return invalid('thinking.enabled.budget_tokens: Field required');
  if (budget < 1024)
    return invalid('thinking.enabled.budget_tokens: Input should be greater than or equal to 1024');
  if (budget >= Number(body.max_tokens))
    return invalid('`max_tokens` must be greater than `thinking.budget_tokens`.');
  const choice = textOf(objectOf(body.tool_choice).type);
  if (choice === 'any' || choice === 'tool')
    return invalid('Thinking may not be enabled when tool_choice forces tool use.');
  if (body.temperature !== undefined && body.temperature !== 1) {
    return invalid('`temperature` may only be set to 1 when thinking is enabled.');
  }
  return undefined;
}

function checkTools(body: JsonObject): NativeError | undefined {
  const names = new Set<string>();
  for (const [index, tool] of objectsOf(body.tools).entries()) {
    const name = textOf(tool.name);
    names.add(name);
    // Versioned server tools have keys of their own; only client tools are checked.
    if (tool.type !== undefined && tool.type !== 'custom') continue;
    for (const key in tool) {
      if (!CLIENT_TOOL.has(key))
        return invalid(`tools.${index}.custom.${key}: Extra inputs are not permitted`);
    }
    if (!TOOL_NAME.test(name))
      return invalid(`tools.${index}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`);
    if (objectOf(tool.input_schema).type !== 'object')
      return invalid(`tools.${index}.custom.input_schema.type: Field required`);
  }
  const choice = objectOf(body.tool_choice);
  const type = textOf(choice.type);
  if (names.size === 0 && (type === 'any' || type === 'tool')) {
    return invalid('tool_choice may only be specified while providing tools.');
  }
  if (type === 'tool' && !names.has(textOf(choice.name))) {
    return invalid(`Tool '${textOf(choice.name)}' not found in provided tools`);
  }
  return undefined;
}

interface Turn {
  role: string;
  blocks: JsonObject[];
  index: number;
}

/** Consecutive messages of one role are one turn, as the provider merges them. */
function turnsOf(body: JsonObject): Turn[] {
  const turns: Turn[] = [];
  for (const [index, message] of objectsOf(body.messages).entries()) {
    const role = textOf(message.role);
    const blocks =
      typeof message.content === 'string'
        ? [{ type: 'text', text: message.content }]
        : objectsOf(message.content);
    const last = turns.at(-1);
    if (last?.role === role) last.blocks.push(...blocks);
    else turns.push({ role, blocks: [...blocks], index });
  }
  return turns;
}

function checkTurns(body: JsonObject, script: Script): NativeError | undefined {
  for (const [index, message] of objectsOf(body.messages).entries()) {
    if (!['user', 'assistant', 'system'].includes(textOf(message.role))) {
      return invalid(`messages.${index}.role: Input should be 'user' or 'assistant'`);
    }
    for (const key in message) {
      if (key !== 'role' && key !== 'content')
        return invalid(`messages.${index}.${key}: Extra inputs are not permitted`);
    }
  }
  const turns = turnsOf(body);
  for (const turn of turns) {
    const fault = checkBlocks(turn, script);
    if (fault !== undefined) return fault;
  }
  return checkToolPairs(turns) ?? checkThoughtBeforeCall(body, turns);
}

function checkBlocks(turn: Turn, script: Script): NativeError | undefined {
  if (turn.blocks.length === 0)
    return invalid(`messages.${turn.index}: all messages must have non-empty content`);
  for (const [index, block] of turn.blocks.entries()) {
    const at = `messages.${turn.index}.content.${index}`;
    const type = textOf(block.type);
    const allowed = BLOCK_KEYS[type];
    for (const key in block) {
      if (allowed !== undefined && !allowed.has(key))
        return invalid(`${at}.${type}.${key}: Extra inputs are not permitted`);
    }
    if (type === '') return invalid(`${at}.type: Field required`);
    const fault =
      type === 'text' ? checkText(block, at) : (checkIds(block, at) ?? checkSignature(block, at, script));
    if (fault !== undefined) return fault;
    for (const [inner, part] of objectsOf(block.content).entries()) {
      const partFault = part.type === 'text' ? checkText(part, `${at}.content.${inner}`) : undefined;
      if (partFault !== undefined) return partFault;
    }
  }
  return undefined;
}

function checkText(block: JsonObject, at: string): NativeError | undefined {
  if (textOf(block.text) === '') return invalid(`${at}: text content blocks must be non-empty`);
  return textOf(block.text).trim() === ''
    ? invalid(`${at}: text content blocks must contain non-whitespace text`)
    : undefined;
}

function checkIds(block: JsonObject, at: string): NativeError | undefined {
  const key = block.type === 'tool_use' ? 'id' : block.type === 'tool_result' ? 'tool_use_id' : undefined;
  if (key === undefined || TOOL_ID.test(textOf(block[key]))) return undefined;
  return invalid(`${at}.${textOf(block.type)}.${key}: String should match pattern '^[a-zA-Z0-9_-]+$'`);
}

/** Every thought comes back signed; models named `strict` also refuse a signature that is not the simulator's own. */
function checkSignature(block: JsonObject, at: string, script: Script): NativeError | undefined {
  if (block.type !== 'thinking') return undefined;
  const signature = textOf(block.signature);
  if (signature === '') return invalid(`${at}.thinking.signature: Field required`);
  if (!script.words.has('strict') || signature === signatureOf(textOf(block.thinking))) return undefined;
  return invalid(`${at}: Invalid \`signature\` in \`thinking\` block`);
}

/** The signature under a thought: a function of its text, so that one byte changed is seen. */
export function signatureOf(thinking: string): string {
  return `sim${createHash('sha256').update(thinking).digest('base64')}`;
}

function checkToolPairs(turns: readonly Turn[]): NativeError | undefined {
  let open: string[] = [];
  for (const turn of turns) {
    const results = turn.role === 'user' ? turn.blocks.filter((block) => block.type === 'tool_result') : [];
    const leading = new Set<string>();
    for (const block of turn.blocks) {
      if (block.type !== 'tool_result') break;
      leading.add(textOf(block.tool_use_id));
    }
    const stray = results.find((block) => !open.includes(textOf(block.tool_use_id)));
    if (stray !== undefined) {
      return invalid(
        `messages.${turn.index}.content.0: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${textOf(stray.tool_use_id)}. ` +
          'Each `tool_result` block must have a corresponding `tool_use` block in the previous message.',
      );
    }
    const missing = open.filter((id) => !leading.has(id));
    if (missing.length > 0) return withoutResult(turn.index - 1, missing);
    const calls = turn.role === 'assistant' ? turn.blocks.filter((block) => block.type === 'tool_use') : [];
    open = calls.map((block) => textOf(block.id));
  }
  return open.length > 0 ? withoutResult(turns.at(-1)?.index ?? 0, open) : undefined;
}

function withoutResult(index: number, ids: readonly string[]): NativeError {
  return invalid(
    `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids.join(', ')}. ` +
      'Each `tool_use` block must have a corresponding `tool_result` block in the next message.',
  );
}

/** Checks that with thinking on the assistant turn of a running tool loop begins with its thought. */
function checkThoughtBeforeCall(body: JsonObject, turns: readonly Turn[]): NativeError | undefined {
  const results = turns.at(-1);
  const call = turns.at(-2);
  if (objectOf(body.thinking).type !== 'enabled' || results?.blocks[0]?.type !== 'tool_result')
    return undefined;
  const first = textOf(call?.blocks[0]?.type);
  if (first === 'thinking' || first === 'redacted_thinking') return undefined;
  return invalid(
    `messages.${call?.index ?? 0}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first}\`.`,
  );
}

/** Checks for at most four breakpoints, and in the order tools, system, messages no 1h after a 5m. */
function checkCacheControl(body: JsonObject): NativeError | undefined {
  const ordered = [...objectsOf(body.tools), ...objectsOf(body.system)];
  for (const message of objectsOf(body.messages)) {
    for (const block of objectsOf(message.content)) ordered.push(block, ...objectsOf(block.content));
  }
  const ttls = ordered
    .filter((block) => block.cache_control != null)
    .map((block) => objectOf(block.cache_control).ttl ?? '5m');
  const count = ttls.length + (body.cache_control == null ? 0 : 1);
  if (count > 4) return invalid(`A maximum of 4 blocks with cache_control may be provided. Found ${count}.`);
  if (ttls.lastIndexOf('1h') > ttls.indexOf('5m') && ttls.includes('5m')) {
    return invalid(
      "cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. " +
        'Note that blocks are processed in the following order: `tools`, `system`, `messages`.',
    );
  }
  return undefined;
}
