import { parseSpelled } from '@gateway/json-body';
import {
  ApiError,
  type BackgroundResponses,
  type BackgroundRun,
  type Clock,
  type EndedResponse,
  type NumberedEvent,
  type StoredResponse,
} from '@gateway/contracts';
import { WholeFrames } from '../request/whole-frames.js';

type Json = Record<string, unknown>;

const SEND_EVERY_MS = 150;
/** Interval at which it looks for a cancellation while it has nothing to send. */
const LOOK_EVERY_MS = 2_000;
const EVENTS_AT_ONCE = 2_000;
/** Waiting to be sent: the model waits for it. */
const WAITING_BYTES_MAX = 4 * 1_048_576;
/** Size of one run; past it only the end is stored. */
const KEPT_BYTES_MAX = 32 * 1_048_576;
const FRAME_LENGTH_MAX = 32 * 1_048_576;
const END_TRIES_MAX = 120;
const ENDS: readonly unknown[] = ['response.completed', 'response.incomplete', 'response.failed'];

interface Parts {
  store: BackgroundResponses;
  run: BackgroundRun;
  /** Number of its first event. */
  first: number;
  clock: Clock;
  /** It was cancelled, removed, or another run has it. */
  onGone: () => void;
}

/** Sends what a run says to where its response is kept, in order, and its end with its last event. */
export class BackgroundFeed {
  /** Final response of the provider, where it is stored in this form. */
  kept: StoredResponse | null = null;
  isGone = false;
  private readonly whole = new WholeFrames();
  private next: number;
  private waiting: NumberedEvent[] = [];
  private waitingBytes = 0;
  private seenBytes = 0;
  /** Shown with the response that failed alone: a run that only broke off is followed by another. */
  private error: NumberedEvent | null = null;
  private end: NumberedEvent | null = null;
  private readonly stopped = new AbortController();
  private readonly pumping: Promise<void>;

  constructor(private readonly parts: Parts) {
    this.next = parts.first;
    this.pumping = this.pump();
  }

  /** Frames of the stream, cut anywhere. */
  async write(text: string): Promise<void> {
    for (const frame of this.whole.push(text)) this.see(frame);
    if (this.whole.length > FRAME_LENGTH_MAX) throw new RangeError('an event is too long');
    while (this.waitingBytes > WAITING_BYTES_MAX && !this.isGone && !this.stopped.signal.aborted)
      await this.parts.clock.sleep(SEND_EVERY_MS);
  }

  /** True where the run has said its end, which is kept by now; or where nobody wants it any more. */
  async finish(): Promise<boolean> {
    this.stopped.abort();
    await this.pumping;
    const { end, error } = this;
    if (end === null || this.isGone || isOurs(error)) return this.isGone;
    if (error !== null) this.waiting.push(error);
    this.waiting.push(end);
    for (let tries = 1; !this.isGone; tries += 1) {
      try {
        await this.send(this.ended(end));
        return true;
      } catch (failure) {
        if (tries === END_TRIES_MAX || !(failure instanceof ApiError)) throw failure;
        await this.parts.clock.sleep(LOOK_EVERY_MS / 4);
      }
    }
    return true;
  }

  private see(frame: string): void {
    const lines = frame.split('\n').filter((line) => line.startsWith('data:'));
    const data = lines.map((line) => line.slice('data:'.length).trimStart()).join('\n');
    if (data === '' || data === '[DONE]') return;
    const said = parseSpelled(data) as Json;
    // It was created when it was begun.
    if (said.type === 'response.created') return;
    const event: Json = { ...said, sequence_number: this.next };
    if (isJson(said.response)) event.response = this.own(said.response);
    const numbered = { number: this.next, event };
    this.next += 1;
    if (said.type === 'error') this.error = numbered;
    else if (ENDS.includes(said.type)) this.end = numbered;
    else this.keep(numbered, data.length);
  }

  private keep(numbered: NumberedEvent, size: number): void {
    this.seenBytes += size;
    if (this.seenBytes > KEPT_BYTES_MAX) return;
    this.waitingBytes += size;
    this.waiting.push(numbered);
  }

  /** A response as its caller asked for it, whatever the run is called elsewhere. */
  private own(response: Json): Json {
    return { ...response, id: this.parts.run.response_id, background: true, store: true };
  }

  private ended({ event }: NumberedEvent): EndedResponse {
    const { kept } = this;
    if (kept === null) return { response: event.response as Json, credential: null };
    return { response: this.own(kept.response), credential: kept.credential };
  }

  private async pump(): Promise<void> {
    const { clock } = this.parts;
    const { signal } = this.stopped;
    let sentMs = clock.monotonic();
    while (!signal.aborted && !this.isGone) {
      await clock.sleep(SEND_EVERY_MS, signal).catch(() => undefined);
      if (signal.aborted) return;
      if (this.waiting.length === 0 && clock.monotonic() - sentMs < LOOK_EVERY_MS) continue;
      sentMs = clock.monotonic();
      // Where the store is away what waits is sent later.
      await this.send(null).catch(() => undefined);
    }
  }

  /** All that waits; its end with the last of it. */
  private async send(ended: EndedResponse | null): Promise<void> {
    const { store, run, onGone } = this.parts;
    do {
      const batch = this.waiting.slice(0, EVENTS_AT_ONCE);
      const isLast = batch.length === this.waiting.length;
      const isCurrent = await store.append(run, batch, isLast ? ended : null);
      this.waiting.splice(0, batch.length);
      if (this.waiting.length === 0) this.waitingBytes = 0;
      if (isCurrent) continue;
      this.isGone = true;
      onGone();
      return;
    } while (this.waiting.length > 0);
  }
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The process ends: another one begins it anew. */
function isOurs(error: NumberedEvent | null): boolean {
  return error?.event.code === 'service_draining';
}
