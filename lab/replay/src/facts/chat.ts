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
  // Mistral has a name of its own for it.
  facts.cached = count(usage.num_cached_tokens) ?? count(details.cached_tokens) ?? 0;
  facts.cacheWrite = count(details.cache_write_tokens) ?? 0;
  facts.reasoningTokens = count(object(usage.completion_tokens_details).reasoning_tokens);
}

/** A chat completion, plain. */
export function chatAnswer(body: unknown): AnswerFacts {
  const facts = emptyFacts();
  const choice = object(list(object(body).choices)[0]);
  const message = object(choice.message);
  facts.text = contentText(message.content) + text(message.refusal);
  facts.reasoning = text(message.reasoning_content) || text(message.reasoning);
  facts.tools = list(message.tool_calls).map((call) => {
    const { name, arguments: input } = object(object(call).function);
    const custom = object(object(call).custom);
    if (text(custom.name) !== '') return { name: text(custom.name), arguments: text(custom.input) };
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
    facts.text += contentText(delta.content) + text(delta.refusal);
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
