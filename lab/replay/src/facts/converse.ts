import {
  count,
  emptyFacts,
  list,
  object,
  parsed,
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
  content_filtered: 'content_filter',
  guardrail_intervened: 'content_filter',
};

function stopped(facts: AnswerFacts, reason: unknown): void {
  facts.native = text(reason);
  facts.finish = FINISH[facts.native] ?? facts.native;
}

function counted(facts: AnswerFacts, usage: Json): void {
  facts.usage = usage;
  facts.cached = count(usage.cacheReadInputTokens) ?? 0;
  facts.cacheWrite = count(usage.cacheWriteInputTokens) ?? 0;
  facts.prompt = (count(usage.inputTokens) ?? 0) + facts.cached + facts.cacheWrite;
  facts.completion = count(usage.outputTokens);
}

/** An answer of Converse. Tools that the server ran itself are no calls of the caller's. */
export function converseAnswer(body: unknown): AnswerFacts {
  const facts = emptyFacts();
  const answer = object(body);
  for (const block of list(object(object(answer.output).message).content).map(object)) {
    facts.text += text(block.text);
    facts.reasoning += text(object(object(block.reasoningContent).reasoningText).text);
    const call = object(block.toolUse);
    if (text(call.name) !== '' && call.type !== 'server_tool_use')
      facts.tools.push({ name: text(call.name), arguments: object(call.input) });
    // Text that carries citations stands in a block of its own.
    for (const part of list(object(block.citationsContent).content)) facts.text += text(object(part).text);
  }
  stopped(facts, answer.stopReason);
  counted(facts, object(answer.usage));
  return facts;
}

/** Type and payload of each frame, by the book but without checksums: independent of the gateway's own reader. */
function* frames(body: Buffer): Generator<{ type: string; payload: Json }> {
  for (let from = 0; from + 16 <= body.length; from += body.readUInt32BE(from)) {
    const end = from + body.readUInt32BE(from);
    const headersEnd = from + 12 + body.readUInt32BE(from + 4);
    let type = '';
    for (let at = from + 12; at < headersEnd;) {
      const name = body.toString('latin1', at + 1, at + 1 + body[at]);
      at += 1 + body[at] + 1;
      const size = body.readUInt16BE(at);
      if (name === ':event-type' || name === ':exception-type')
        type = body.toString('latin1', at + 2, at + 2 + size);
      at += 2 + size;
    }
    yield { type, payload: object(JSON.parse(body.toString('utf8', headersEnd, end - 4) || '{}')) };
  }
}

/** A stream of ConverseStream. */
export function converseStream(body: Buffer): AnswerFacts {
  const facts = { ...emptyFacts(), isComplete: false };
  const calls = new Map<number, { name: string; input: string }>();
  for (const { type, payload } of frames(body)) {
    const index = Number(payload.contentBlockIndex ?? 0);
    const called = object(object(payload.start).toolUse);
    const delta = object(payload.delta);
    if (type === 'contentBlockStart' && text(called.name) !== '' && called.type !== 'server_tool_use')
      calls.set(index, { name: text(called.name), input: '' });
    if (type === 'contentBlockDelta') {
      facts.text += text(delta.text);
      facts.reasoning += text(object(delta.reasoningContent).text);
      const call = calls.get(index);
      if (call) call.input += text(object(delta.toolUse).input);
    }
    if (type === 'messageStop') {
      stopped(facts, payload.stopReason);
      facts.isComplete = true;
    }
    if (type === 'metadata') counted(facts, object(payload.usage));
    if (type.endsWith('Exception')) facts.error = payload;
  }
  facts.tools = [...calls.values()].map(({ name, input }) => ({ name, arguments: parsed(input || '{}') }));
  return facts;
}
