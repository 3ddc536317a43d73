import { Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { finished } from 'node:stream/promises';
import { ApiError } from '@gateway/contracts';
import { Client, type AnswerSink } from '../request/client.js';
import type { InferenceRequest } from '../request/inference-request.js';
import type { InferDeps } from './infer-deps.js';

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

/**
 * One unit of a request that asks several: it is admitted, routed, priced and recorded as a request of its own would be.
 * What it answers goes to `take`. A caller that leaves closes it too. Never throws.
 */
export function askOne(
  call: InferenceRequest,
  caller: Client,
  deps: InferDeps,
  take: (text: string) => Promise<void>,
): Promise<SubAnswer> {
  // A long piece is written in parts, which may cut a character in two.
  const decoder = new StringDecoder('utf8');
  const asText = (chunk: string | Buffer): string =>
    typeof chunk === 'string' ? chunk : decoder.write(chunk);
  const sink = new SubSink(
    (chunk) => take(asText(chunk)),
    () => deps.clock.monotonic(),
  );
  return askInto(sink, call, caller, deps);
}

/** The same for an answer that is no text. */
export async function askInto(
  sink: SubSink,
  call: InferenceRequest,
  caller: Pick<Client, 'upstream'>,
  deps: InferDeps,
): Promise<SubAnswer> {
  const { clock, deadlines, config } = deps;
  const startedMs = clock.monotonic();
  const client = new Client(sink, () => ({}), clock, deadlines, config.CLIENT_STALL_TIMEOUT_MS);
  const leave = (): void => void sink.destroy();
  caller.upstream.signal.addEventListener('abort', leave, { once: true });
  let error: ApiError | null = null;
  try {
    await deps.inference.run({ ...call, startedMs }, client);
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

function asApiError(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError('internal_error', { cause: error });
}

function brokenOff(): ApiError {
  return new ApiError('upstream_error', { providerCode: 'bad_response', message: 'The answer broke off.' });
}
