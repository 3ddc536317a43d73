import { UpstreamError } from '@gateway/contracts';
import type { JsonObject } from '../body/json-object.js';
import { badReply, failedReply, type ExchangeFailure } from '../translation/exchange.js';
import type { UpstreamCalls } from '../translation/translation.js';
import type { UpstreamBody } from '../translation/upstream-body.js';
import { extensionOf, type MadePicture } from './picture.js';
import { objectIn } from './requests.js';

/** Looks in a row that may fail before the task is given up: it is paid for, and goes on by itself. */
const FAILURES_MAX = 5;

interface Polling<T> {
  everyMs: number;
  look: UpstreamBody;
  /** Null: it is still at work. Throws ExchangeFailure where it ended without a result. */
  read: (answer: JsonObject) => T | null;
}

/** Looks at a task until it has ended; the attempt's deadline and the caller end it before. */
export async function polled<T>(calls: UpstreamCalls, { everyMs, look, read }: Polling<T>): Promise<T> {
  for (let failures = 0; ;) {
    await calls.sleep(everyMs);
    let answer: JsonObject;
    try {
      answer = objectIn(await calls.send(look));
      failures = 0;
    } catch (failure) {
      failures += 1;
      if (!isPassing(failure) || failures >= FAILURES_MAX) throw failure;
      continue;
    }
    const result = read(answer);
    if (result !== null) return result;
  }
}

function isPassing(failure: unknown): boolean {
  return failure instanceof UpstreamError && failure.options.retryable && failure.options.httpStatus !== null;
}

/** A result that waits at an address. */
export async function fetched(calls: UpstreamCalls, url: unknown): Promise<MadePicture> {
  if (typeof url !== 'string' || url === '') throw badReply('the answer holds no image.');
  const { bytes } = await calls.download(url);
  if (extensionOf(bytes) === 'bin') throw badReply('the address of the image gives none.');
  return { bytes };
}

/** The provider's filter refused the prompt or the result. */
export function moderated(message: string): ExchangeFailure {
  return failedReply(
    'content_policy_violation',
    message || 'the request was refused by a content filter.',
    400,
  );
}
