import { writeJson } from '@gateway/json-body';
import type { Clock, EventsPage } from '@gateway/contracts';

const WAIT_MS = { first: 100, max: 1_000 };
const KEEP_ALIVE_MS = 15_000;
/** A stream that is longer is resumed by who reads it. */
const FOLLOWED_MS = 1_800_000;

export interface Followed {
  /** Some events after this number. */
  read: (after: number) => Promise<EventsPage | null>;
  after: number;
  clock: Clock;
  /** Returns true once nobody reads the stream any more. */
  isGone: () => boolean;
}

/** The frames of a background response after a number, as they come, until its last. */
export async function* followEvents({ read, after, clock, isGone }: Followed): AsyncGenerator<string> {
  let [last, said, waitMs] = [after, -1, WAIT_MS.first];
  const startMs = clock.monotonic();
  let saidMs = startMs;
  while (!isGone() && clock.monotonic() - startMs < FOLLOWED_MS) {
    const page = await read(last);
    if (page === null) return;
    for (const { number, event } of page.events) {
      // The last comes once more to who asks for what follows it.
      if (number <= said) continue;
      said = number;
      yield `event: ${String(event.type)}\ndata: ${writeJson(event)}\n\n`;
      last = Math.max(last, number);
    }
    if (page.is_over) {
      yield 'data: [DONE]\n\n';
      return;
    }
    const nowMs = clock.monotonic();
    if (page.events.length > 0) [saidMs, waitMs] = [nowMs, WAIT_MS.first];
    else waitMs = Math.min(waitMs * 1.5, WAIT_MS.max);
    if (nowMs - saidMs >= KEEP_ALIVE_MS) {
      yield ': keep-alive\n\n';
      saidMs = nowMs;
    }
    await clock.sleep(waitMs);
  }
}
