import { badReply, failedReply, type ExchangeFailure } from '../translation/exchange.js';
import type { UpstreamCalls } from '../translation/translation.js';
import { filled, objectsOf, type JsonObject } from '../body/json-object.js';
import { base64In, extensionOf, type MadePicture } from './picture.js';

/** A result that waits at an address. */
export async function fetched(calls: UpstreamCalls, url: unknown): Promise<MadePicture> {
  if (typeof url !== 'string' || url === '') throw badReply('the answer holds no image.');
  const { bytes } = await calls.download(url);
  if (extensionOf(bytes) === 'bin') throw badReply('the address of the image gives none.');
  return { bytes };
}

/**
 * Items of OpenAI's answer with their pictures: base64 where they hold it, else what waits at their address, because some
 * upstreams name one whatever they are asked for. No more are fetched than were asked for: an answer may name any number.
 */
export async function picturesIn(
  calls: UpstreamCalls,
  data: unknown,
  most: number,
): Promise<{ item: JsonObject; picture: MadePicture }[]> {
  const items = objectsOf(data);
  const held = items.filter(({ b64_json }) => base64In(b64_json) !== null);
  if (held.length > 0) return held.map((item) => ({ item, picture: { base64: String(item.b64_json) } }));
  const named = items.filter(({ url }) => filled(url) !== null).slice(0, most);
  if (named.length === 0) throw badReply('the answer holds no image.');
  return Promise.all(named.map(async (item) => ({ item, picture: await fetched(calls, item.url) })));
}

const LONE_SURROGATE = /\p{Cs}/u;

/** The name of a task. Throws ExchangeFailure where it is none: half of a pair of surrogates stands in no address. */
export function taskIn(id: unknown): string {
  if (typeof id !== 'string' || id === '' || LONE_SURROGATE.test(id))
    throw badReply('the answer names no task.');
  return id;
}

/** The provider's filter refused the prompt or the result. */
export function moderated(message: string): ExchangeFailure {
  return failedReply(
    'content_policy_violation',
    message || 'the request was refused by a content filter.',
    400,
  );
}
