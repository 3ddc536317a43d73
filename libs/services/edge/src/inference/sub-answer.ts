import { Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { finished } from 'node:stream/promises';
import { Inject, Injectable } from '@nestjs/common';
import type { ApiError, Clock } from '@gateway/contracts';
import { CLOCK } from '@gateway/platform';
import { asApiError, brokenOff } from '../request/as-api-error.js';
import { Clients, type AnswerSink, type Client } from '../request/client.js';
import type { InferenceRequest } from '../request/inference-request.js';
import { Inference } from './inference.js';

/** One answer inside of another: what a connection would have got. */
export class SubSink extends Writable implements AnswerSink {
  readonly socket = null;
  firstByteMs: number | null = null;
  head: Readonly<Record<string, string>> = {};

  constructor(
    private readonly take: (chunk: string | Buffer) => Promise<void>,
    private readonly nowMs: () => number,
  ) {
    super({ decodeStrings: false });
  }

  writeHead(_status: number, head: Record<string, string>): this {
    this.head = head;
    return this;
  }

  override _write(chunk: string | Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.firstByteMs ??= this.nowMs();
    this.take(chunk).then(() => done(), done);
  }
}

export interface SubAnswer {
  /** Null where it went to its end, or said in-band how it failed. */
  error: ApiError | null;
  latencyMs: number;
  /** Milliseconds to its first byte; null where none came. */
  ttftMs: number | null;
  rateHeaders: Readonly<Record<string, string>>;
}

/** The caller of the whole: its abort closes the part too. */
type Whole = Pick<Client, 'upstream'>;

/** Answers inside of other answers: each a unit that is admitted, routed, priced and recorded as a request of its own. */
@Injectable()
export class SubAnswers {
  constructor(
    private readonly inference: Inference,
    private readonly clients: Clients,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Asks for one answer, whose text goes to `take`. Never throws. */
  ask(
    request: InferenceRequest,
    caller: Whole,
    take: (text: string) => Promise<void> | undefined,
  ): Promise<SubAnswer> {
    // A long piece is written in parts, which may cut a character in two.
    const decoder = new StringDecoder('utf8');
    const sink = this.sink(async (chunk) => take(typeof chunk === 'string' ? chunk : decoder.write(chunk)));
    return this.askInto(sink, request, caller);
  }

  /** Returns a sink for an answer that is no text. */
  sink(take: (chunk: string | Buffer) => Promise<void>): SubSink {
    return new SubSink(take, () => this.clock.monotonic());
  }

  /** Asks for one answer, whose bytes go to the sink. Never throws. */
  async askInto(sink: SubSink, request: InferenceRequest, caller: Whole): Promise<SubAnswer> {
    const { clock } = this;
    const startedMs = clock.monotonic();
    const client = this.clients.of(sink);
    const leave = (): void => void sink.destroy();
    caller.upstream.signal.addEventListener('abort', leave, { once: true });
    let error: ApiError | null = null;
    try {
      await this.inference.run({ ...request, startedMs }, client);
      if (!sink.writableEnded) error = brokenOff();
    } catch (failure) {
      // On an open stream it was sent in-band.
      if (!client.isOpen || sink.destroyed) error = asApiError(failure);
    } finally {
      caller.upstream.signal.removeEventListener('abort', leave);
      if (sink.writableEnded) await finished(sink).catch(() => undefined);
      else sink.destroy();
    }
    return {
      error,
      latencyMs: Math.round(clock.monotonic() - startedMs),
      ttftMs: sink.firstByteMs === null ? null : Math.round(sink.firstByteMs - startedMs),
      rateHeaders: client.rateHeaders,
    };
  }
}
