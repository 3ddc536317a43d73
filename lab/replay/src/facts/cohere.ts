import {
  count,
  emptyFacts,
  list,
  object,
  parsed,
  sseData,
  text,
  type AnswerFacts,
  type Json,
} from './answer-facts.js';

const FINISH: Record<string, string> = {
  COMPLETE: 'stop',
  STOP_SEQUENCE: 'stop',
  MAX_TOKENS: 'length',
  TOOL_CALL: 'tool_calls',
  ERROR_TOXIC: 'content_filter',
};

function ended(facts: AnswerFacts, { finish_reason: reason, usage: whole }: Json): void {
  facts.native = text(reason);
  facts.finish = FINISH[facts.native] ?? facts.native;
  const usage = object(whole);
  const tokens = object(usage.tokens);
  facts.usage = usage;
  facts.prompt = count(tokens.input_tokens);
  facts.completion = count(tokens.output_tokens);
  facts.cached = count(usage.cached_tokens) ?? 0;
  facts.reasoningTokens = count(tokens.reasoning_tokens);
}

function inputOf(value: unknown): unknown {
  return parsed(text(value) || '{}') ?? {};
}

function content(facts: AnswerFacts, part: Json): void {
  facts.text += text(part.text);
  facts.reasoning += text(part.thinking);
}

/** An answer of /v2/chat. */
export function cohereAnswer(body: unknown): AnswerFacts {
  const facts = emptyFacts();
  const message = object(object(body).message);
  facts.reasoning = text(message.tool_plan);
  for (const part of list(message.content)) content(facts, object(part));
  for (const call of list(message.tool_calls)) {
    const called = object(object(call).function);
    facts.tools.push({ name: text(called.name), arguments: inputOf(called.arguments) });
  }
  ended(facts, object(body));
  return facts;
}

/** A stream of /v2/chat. */
export function cohereStream(body: string): AnswerFacts {
  const facts = { ...emptyFacts(), isComplete: false };
  const calls = new Map<number, { name: string; arguments: string }>();
  for (const data of sseData(body)) {
    if (data === '[DONE]') continue;
    const event = object(JSON.parse(data));
    const delta = object(event.delta);
    const message = object(delta.message);
    content(facts, object(message.content));
    facts.reasoning += text(message.tool_plan);
    const called = object(object(message.tool_calls).function);
    const index = Number(event.index ?? 0);
    if (event.type === 'tool-call-start')
      calls.set(index, { name: text(called.name), arguments: text(called.arguments) });
    const open = calls.get(index);
    if (event.type === 'tool-call-delta' && open) open.arguments += text(called.arguments);
    if (event.type === 'message-end') {
      ended(facts, delta);
      facts.isComplete = true;
    }
  }
  facts.tools = [...calls.values()].map((call) => ({ name: call.name, arguments: inputOf(call.arguments) }));
  return facts;
}
