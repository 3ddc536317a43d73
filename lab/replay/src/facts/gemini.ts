import { count, emptyFacts, list, object, sseData, text, type AnswerFacts } from './answer-facts.js';

const FINISH: Record<string, string> = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  SAFETY: 'content_filter',
  RECITATION: 'content_filter',
  BLOCKLIST: 'content_filter',
  PROHIBITED_CONTENT: 'content_filter',
  SPII: 'content_filter',
};

function add(facts: AnswerFacts, body: unknown): void {
  const answer = object(body);
  const candidate = object(list(answer.candidates)[0]);
  for (const part of list(object(candidate.content).parts).map(object)) {
    if (part.thought === true) facts.reasoning += text(part.text);
    else facts.text += text(part.text);
    const call = object(part.functionCall);
    if (text(call.name) !== '') facts.tools.push({ name: text(call.name), arguments: object(call.args) });
  }
  const native = text(candidate.finishReason);
  if (native !== '') {
    facts.native = native;
    facts.isComplete = true;
  }
  if (facts.native !== null) {
    const reason = FINISH[facts.native] ?? facts.native;
    facts.finish = reason === 'stop' && facts.tools.length > 0 ? 'tool_calls' : reason;
  }
  if (text(object(answer.promptFeedback).blockReason) !== '') facts.error = object(answer.promptFeedback);
  const usage = object(answer.usageMetadata);
  if (count(usage.promptTokenCount) === null) return;
  facts.usage = usage;
  facts.prompt = (count(usage.promptTokenCount) ?? 0) + (count(usage.toolUsePromptTokenCount) ?? 0);
  facts.cached = count(usage.cachedContentTokenCount) ?? 0;
  facts.reasoningTokens = count(usage.thoughtsTokenCount) ?? 0;
  facts.completion = (count(usage.candidatesTokenCount) ?? 0) + facts.reasoningTokens;
}

/** An answer of generateContent. */
export function geminiAnswer(body: unknown): AnswerFacts {
  const facts = emptyFacts();
  add(facts, body);
  return facts;
}

/** A stream of streamGenerateContent. */
export function geminiStream(body: string): AnswerFacts {
  const facts = { ...emptyFacts(), isComplete: false };
  for (const data of sseData(body)) add(facts, JSON.parse(data));
  return facts;
}
