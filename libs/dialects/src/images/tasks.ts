import { badReply, failedReply, type ExchangeFailure } from '../translation/exchange.js';
import type { UpstreamCalls } from '../translation/translation.js';
import { extensionOf, type MadePicture } from './picture.js';

/** A result that waits at an address. */
export async function fetched(calls: UpstreamCalls, url: unknown): Promise<MadePicture> {
  if (typeof url !== 'string' || url === '') throw badReply('the answer holds no image.');
  const { bytes } = await calls.download(url);
  if (extensionOf(bytes) === 'bin') throw badReply('the address of the image gives none.');
  return { bytes };
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
