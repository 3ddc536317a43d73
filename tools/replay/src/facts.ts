/** What an answer says, whichever dialect and form it came in: what a judge compares. */
export interface AnswerFacts {
  text: string;
  reasoning: string;
  tools: { name: string; arguments: unknown }[];
  finish: string | null;
  native: string | null;
  prompt: number | null;
  completion: number | null;
  cached: number;
  cacheWrite: number;
  reasoningTokens: number | null;
  /** The stream ended as its dialect says; a plain answer always did. */
  isComplete: boolean;
  /** In-band error of a stream. */
  error: Record<string, unknown> | null;
  /** Whole usage object as the caller got it. */
  usage: Record<string, unknown>;
}

export type Json = Record<string, unknown>;

export function object(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}
function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
export function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
function count(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

function parsed(argumentsText: string): unknown {
  try {
    return JSON.parse(argumentsText);
  } catch {
    return `not JSON: ${argumentsText}`;
  }
}

function emptyFacts(): AnswerFacts {
  return {
    text: '',
    reasoning: '',
    tools: [],
    finish: null,
    native: null,
    prompt: null,
    completion: null,
    cached: 0,
    cacheWrite: 0,
    reasoningTokens: null,
    isComplete: true,
    error: null,
    usage: {},
  };
}

/** The data of every SSE event, by the book but on the whole text: independent of the gateway's own parser. */
function sseData(body: string): string[] {
  return body
    .split(/\r\n\r\n|\n\n|\r\r/)
    .map((frame) =>
      frame
        .split(/\r\n|\n|\r/)
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice(5).replace(/^ /, ''))
        .join('\n'),
    )
    .filter((data) => data !== '');
}

function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  return list(content)
    .map((part) => text(object(part).text))
    .join('');
}

function chatUsage(facts: AnswerFacts, usage: Json): void {
  facts.usage = usage;
  facts.prompt = count(usage.prompt_tokens);
  facts.completion = count(usage.completion_tokens);
  const details = object(usage.prompt_tokens_details);
  facts.cached = count(details.cached_tokens) ?? 0;
  facts.cacheWrite = count(details.cache_write_tokens) ?? 0;
  facts.reasoningTokens = count(object(usage.completion_tokens_details).reasoning_tokens);
}

/** A chat completion, plain. */
export function chatAnswer(body: unknown): AnswerFacts {
  const facts = emptyFacts();
  const choice = object(list(object(body).choices)[0]);
  const message = object(choice.message);
  facts.text = contentText(message.content);
  facts.reasoning = text(message.reasoning_content) || text(message.reasoning);
  facts.tools = list(message.tool_calls).map((call) => {
    const { name, arguments: input } = object(object(call).function);
    return { name: text(name), arguments: parsed(text(input) || '{}') };
  });
  facts.finish = text(choice.finish_reason) || null;
  facts.native = text(choice.native_finish_reason) || null;
  chatUsage(facts, object(object(body).usage));
  return facts;
}

/** A chat completion, streamed. */
export function chatStream(body: string): AnswerFacts {
  const facts = emptyFacts();
  const calls = new Map<number, { name: string; arguments: string }>();
  facts.isComplete = false;
  for (const data of sseData(body)) {
    if (data === '[DONE]') {
      facts.isComplete = true;
      continue;
    }
    const chunk = object(JSON.parse(data));
    if (chunk.error) facts.error = object(chunk.error);
    if (chunk.usage) chatUsage(facts, object(chunk.usage));
    const choice = object(list(chunk.choices)[0]);
    const delta = object(choice.delta);
    facts.text += contentText(delta.content);
    facts.reasoning += text(delta.reasoning_content) || text(delta.reasoning);
    for (const part of list(delta.tool_calls)) {
      const { index, function: called } = object(part);
      const call = calls.get(Number(index ?? 0)) ?? { name: '', arguments: '' };
      call.name ||= text(object(called).name);
      call.arguments += text(object(called).arguments);
      calls.set(Number(index ?? 0), call);
    }
    facts.finish = text(choice.finish_reason) || facts.finish;
    facts.native = text(choice.native_finish_reason) || facts.native;
  }
  facts.tools = [...calls.values()].map((call) => ({
    name: call.name,
    arguments: parsed(call.arguments || '{}'),
  }));
  return facts;
}

function messagesUsage(facts: AnswerFacts, usage: Json): void {
  facts.usage = {
    ...facts.usage,
    ...Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== null)),
  };
  const all = facts.usage;
  facts.cached = count(all.cache_read_input_tokens) ?? 0;
  facts.cacheWrite = count(all.cache_creation_input_tokens) ?? 0;
  const input = count(all.input_tokens);
  facts.prompt = input === null ? null : input + facts.cached + facts.cacheWrite;
  facts.completion = count(all.output_tokens);
}

function block(facts: AnswerFacts, value: Json, input: unknown): void {
  if (value.type === 'text') facts.text += text(value.text);
  else if (value.type === 'thinking') facts.reasoning += text(value.thinking);
  else if (value.type === 'tool_use') facts.tools.push({ name: text(value.name), arguments: input });
}

/** A message, plain. */
export function messagesAnswer(body: unknown): AnswerFacts {
  const facts = emptyFacts();
  const message = object(body);
  for (const value of list(message.content)) block(facts, object(value), object(value).input);
  facts.finish = text(message.stop_reason) || null;
  messagesUsage(facts, object(message.usage));
  return facts;
}

/** A message, streamed. */
export function messagesStream(body: string): AnswerFacts {
  const facts = emptyFacts();
  facts.isComplete = false;
  const open = new Map<number, { start: Json; input: string }>();
  for (const data of sseData(body)) {
    const event = object(JSON.parse(data));
    const delta = object(event.delta);
    switch (event.type) {
      case 'error':
        facts.error = object(event.error);
        break;
      case 'message_start':
        messagesUsage(facts, object(object(event.message).usage));
        break;
      case 'content_block_start':
        open.set(Number(event.index), { start: object(event.content_block), input: '' });
        block(
          facts,
          {
            ...object(event.content_block),
            type: object(event.content_block).type === 'tool_use' ? '' : object(event.content_block).type,
          },
          null,
        );
        break;
      case 'content_block_delta': {
        facts.text += text(delta.text);
        facts.reasoning += text(delta.thinking);
        const started = open.get(Number(event.index));
        if (started) started.input += text(delta.partial_json);
        break;
      }
      case 'content_block_stop': {
        const ended = open.get(Number(event.index));
        if (ended?.start.type === 'tool_use') {
          const input = ended.input === '' ? object(ended.start.input) : parsed(ended.input);
          facts.tools.push({ name: text(ended.start.name), arguments: input });
        }
        break;
      }
      case 'message_delta':
        facts.finish = text(delta.stop_reason) || facts.finish;
        messagesUsage(facts, object(event.usage));
        break;
      case 'message_stop':
        facts.isComplete = true;
        break;
      default:
        break;
    }
  }
  return facts;
}
