import { UpstreamError } from '@gateway/contracts';
import type { JsonObject } from '../body/json-object.js';
import { parseUpstreamObject } from '../body/upstream-json.js';
import { badReply } from '../translation/exchange.js';
import type { UpstreamCalls } from '../translation/translation.js';
import type { UpstreamBody } from '../translation/upstream-body.js';

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
    let answer: JsonObject | null;
    try {
      answer = parseUpstreamObject((await calls.send(look)).bytes);
      failures = 0;
    } catch (failure) {
      failures += 1;
      if (!isPassing(failure) || failures >= FAILURES_MAX) throw failure;
      continue;
    }
    if (answer === null) throw badReply('the answer is no JSON.');
    const result = read(answer);
    if (result !== null) return result;
  }
}

function isPassing(failure: unknown): boolean {
  return failure instanceof UpstreamError && failure.options.retryable && failure.options.httpStatus !== null;
}
