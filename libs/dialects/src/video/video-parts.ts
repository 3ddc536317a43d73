import { objectOf, type JsonObject } from '../body/json-object.js';
import { parseUpstreamObject } from '../body/upstream-json.js';
import { badReply } from '../translation/exchange.js';
import type { UpstreamReply } from '../translation/translation.js';
import type { VideoItem, VideoRequest, VideoRole, VideoState } from './video-dialect.js';

const REFUSED = /moderat|policy|safety|sensitive|risk|prohibited/i;

/** Returns the end of a task that made no video. `words` say whether a filter stopped it. */
export function failedState(message: string, ...words: string[]): VideoState {
  const isRefused = [message, ...words].some((word) => REFUSED.test(word));
  return { status: 'failed', isRefused, message: message || 'The task failed.' };
}

/** A video at an address. Throws ExchangeFailure where none is named. */
export function videoAt(url: unknown, seconds: unknown = null): VideoState {
  if (typeof url !== 'string' || url === '') throw badReply('the answer holds no video.');
  const length = typeof seconds === 'string' ? Number(seconds) : seconds;
  return { status: 'done', seconds: typeof length === 'number' ? length : null, result: { url } };
}

/** The id of a task, for a path. Throws ExchangeFailure where it is none. */
export function taskIn(value: unknown): string {
  if (typeof value !== 'string' || !/^[\w.:-]{1,200}$/.test(value))
    throw badReply('the answer names no task.');
  return value;
}

export function answerIn({ bytes }: UpstreamReply): JsonObject {
  return objectOf(parseUpstreamObject(bytes));
}

export function itemsOf({ items }: VideoRequest, role: VideoRole): readonly VideoItem[] {
  return items.filter((item) => item.role === role);
}

export function urlOf(request: VideoRequest, role: VideoRole): string | undefined {
  return itemsOf(request, role).at(0)?.url;
}

/** `adaptive` leaves it to the model. */
export function ratioOf({ aspectRatio }: VideoRequest): string | null {
  return aspectRatio === 'adaptive' ? null : aspectRatio;
}

/** The media type and the bytes of a data: URL, in base64; null for an address. */
export function inlineOf({ url }: VideoItem): { mimeType: string; data: string } | null {
  const found = /^data:([\w/+.-]+);base64,/.exec(url);
  return found === null ? null : { mimeType: found[1], data: url.slice(found[0].length) };
}

/** Members whose value is neither null nor undefined. */
export function given(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value != null));
}
