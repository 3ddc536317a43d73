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

/** A format without namespaces has them in the name. */
function named({ name, namespace }: Json): string {
  return typeof namespace === 'string' ? `${namespace}__${text(name)}` : text(name);
}

function item(facts: AnswerFacts, value: Json): void {
  for (const part of list(value.content).map(object)) {
    if (value.type === 'message') facts.text += text(part.text) + text(part.refusal);
    // Raw reasoning of an open model; a summary, where there is one, says the same in short.
    if (value.type === 'reasoning' && list(value.summary).length === 0) facts.reasoning += text(part.text);
  }
  if (value.type === 'reasoning')
    for (const part of list(value.summary)) facts.reasoning += text(object(part).text);
  if (value.type === 'function_call')
    facts.tools.push({ name: named(value), arguments: parsed(text(value.arguments) || '{}') });
  if (value.type === 'custom_tool_call')
    facts.tools.push({ name: named(value), arguments: text(value.input) });
}

/** A response, plain, or as its stream repeats it at the end. */
export function responsesAnswer(body: unknown): AnswerFacts {
  const facts = emptyFacts();
  const response = object(body);
  for (const value of list(response.output)) item(facts, object(value));
  const reason = text(object(response.incomplete_details).reason);
  const whole = facts.tools.length > 0 ? 'tool_calls' : 'stop';
  facts.finish = reason === 'max_output_tokens' ? 'length' : reason || whole;
  facts.native = text(response.status);
  const usage = object(response.usage);
  facts.usage = usage;
  facts.prompt = count(usage.input_tokens);
  facts.completion = count(usage.output_tokens);
  const details = object(usage.input_tokens_details);
  facts.cached = count(details.cached_tokens) ?? 0;
  facts.cacheWrite = count(details.cache_write_tokens) ?? 0;
  facts.reasoningTokens = count(object(usage.output_tokens_details).reasoning_tokens);
  if (response.status === 'failed') facts.error = object(response.error);
  return facts;
}

const LAST: ReadonlySet<unknown> = new Set(['response.completed', 'response.incomplete', 'response.failed']);

/** Returns the sum of a stream's pieces, and whether its last event says the same. */
export function responsesStream(body: string): AnswerFacts {
  const pieces = { text: '', summary: '', raw: '' };
  let facts = { ...emptyFacts(), isComplete: false };
  for (const data of sseData(body)) {
    if (data === '[DONE]') continue;
    const event = object(JSON.parse(data));
    switch (event.type) {
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        pieces.text += text(event.delta);
        break;
      case 'response.reasoning_summary_text.delta':
        pieces.summary += text(event.delta);
        break;
      case 'response.reasoning_text.delta':
      case 'response.reasoning.delta':
        pieces.raw += text(event.delta);
        break;
      case 'error':
        facts.error = Object.keys(object(event.error)).length > 0 ? object(event.error) : event;
        break;
      default:
        if (!LAST.has(event.type)) break;
        facts = { ...responsesAnswer(event.response), isComplete: event.type !== 'response.failed' };
        if (facts.error === null && facts.text !== pieces.text)
          facts.error = { message: `the pieces say ${pieces.text}, the end says ${facts.text}` };
    }
  }
  if (facts.text === '') facts.text = pieces.text;
  if (facts.reasoning === '') facts.reasoning = pieces.summary || pieces.raw;
  return facts;
}
