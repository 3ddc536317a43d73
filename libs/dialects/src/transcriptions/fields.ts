import { objectsOf } from '../body/json-object.js';
import { parseUpstreamObject } from '../body/upstream-json.js';
import { badReply } from '../translation/exchange.js';
import { Unsupported, type UpstreamReply } from '../translation/translation.js';
import type { JsonObject } from '../body/json-object.js';
import type { TranscriptionRequest } from './transcriptions-dialect.js';

/** The first value of a field; null where it was not sent. */
export function fieldOf({ form }: TranscriptionRequest, wanted: string): string | null {
  return form.fields.find(([name]) => name === wanted)?.[1] || null;
}

/** Every value of a field that may be repeated. */
export function fieldsOf({ form }: TranscriptionRequest, wanted: string): string[] {
  return form.fields.flatMap(([name, value]) => (name === wanted && value !== '' ? [value] : []));
}

/** No upstream of a format of its own writes English of another language. */
export function onlyTranscribes({ task }: TranscriptionRequest): Unsupported | null {
  return task === 'translate' ? new Unsupported(null) : null;
}

/** True if times are needed: an answer that shows none can do without. */
export function needsTimes({ format }: TranscriptionRequest): boolean {
  return !['json', 'text'].includes(format);
}

export function isDiarized({ format }: TranscriptionRequest): boolean {
  return format === 'diarized_json';
}

/** Throws ExchangeFailure where it is no JSON object. */
export function answerIn({ bytes }: UpstreamReply): JsonObject {
  const answer = parseUpstreamObject(bytes);
  if (answer === null) throw badReply('the answer is no JSON.');
  return answer;
}

/** Throws ExchangeFailure where there is none; an empty one is what silence says. */
export function textIn(value: unknown): string {
  if (typeof value !== 'string') throw badReply('the answer holds no text.');
  return value.trim();
}

export function firstOf(list: unknown): JsonObject {
  return objectsOf(list).at(0) ?? {};
}
