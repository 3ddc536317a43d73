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
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'content_filter',
};

function stopped(facts: AnswerFacts, reason: unknown): void {
  facts.native = text(reason) || facts.native;
  facts.finish = facts.native === null ? null : (FINISH[facts.native] ?? facts.native);
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
  stopped(facts, message.stop_reason);
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
        stopped(facts, delta.stop_reason);
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
