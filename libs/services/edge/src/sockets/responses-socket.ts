import { ApiError, BODY_LIMIT_BYTES, errorEnvelope } from '@gateway/contracts';
import { invalidBody } from '@gateway/dialects';
import { BodyFault, parseBody, type ParsedBody } from '@gateway/json-body';
import type { Deadlines, Drain, Pressure } from '@gateway/platform';
import type { RawData } from 'ws';
import { asApiError } from '../request/as-api-error.js';
import type { SocketConnection, SocketRequests } from './socket-requests.js';

/** Messages of one connection that run or wait; their bytes are at most those of one body. */
const REQUESTS_MAX = 8;
const STREAM_ID_LENGTH_MAX = 256;
/** Bytes of answers to faults that a client leaves unread. */
const UNREAD_BYTES_MAX = 1_048_576;
const PING_MS = 20_000;
const FAREWELL_MS = 1_000;
const SERVICE_RESTART = 1_012;

/** One connection: its requests, one after the other. */
export class ResponsesSocket {
  private requests = 0;
  private waitingBytes = 0;
  private previous: Promise<void> = Promise.resolve();
  private isAlive = true;

  constructor(
    private readonly connection: SocketConnection,
    private readonly runs: SocketRequests,
    private readonly pressure: Pressure,
    private readonly drain: Drain,
    private readonly deadlines: Deadlines,
  ) {
    const { ws, memory } = connection;
    ws.on('message', (data, isBinary) => this.message(data, isBinary));
    ws.on('pong', () => (this.isAlive = true));
    ws.once('close', () => memory.close());
    // The close that follows says it all.
    ws.on('error', () => undefined);
    this.watch();
  }

  /** Closes after the drain: what still runs has had its time. */
  leave(): void {
    const { ws } = this.connection;
    ws.close(SERVICE_RESTART, 'service_draining');
    this.deadlines.set(FAREWELL_MS, () => ws.terminate());
  }

  /** Refuses a message that nobody reads to its end. */
  refuse(error: ApiError): void {
    this.fail(error, null, this.runs.newId());
  }

  private watch(): void {
    const { ws } = this.connection;
    this.deadlines.set(PING_MS, () => {
      if (ws.readyState !== ws.OPEN) return;
      if (!this.isAlive) return ws.terminate();
      this.isAlive = false;
      ws.ping();
      this.watch();
    });
  }

  private message(data: RawData, isBinary: boolean): void {
    const bytes = Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer);
    const requestId = this.runs.newId();
    const rejection = this.rejection(bytes.length, isBinary);
    const body = rejection ?? parseBody(bytes);
    if (body instanceof BodyFault) return this.fail(invalidBody(body.detail), null, requestId);
    if (body instanceof ApiError) return this.fail(body, null, requestId);
    const streamId = streamIdOf(body);
    const fault = messageFault(body);
    if (fault) return this.fail(fault, streamId, requestId);
    const { ws } = this.connection;
    this.requests += 1;
    this.waitingBytes += bytes.length;
    this.pressure.buffered(bytes.length);
    this.drain.entered();
    this.previous = this.previous.then(async () => {
      try {
        // A request whose client has left costs nothing.
        if (ws.readyState === ws.OPEN) await this.runs.run(this.connection, body, streamId, requestId);
      } catch (error) {
        this.fail(error, streamId, requestId);
      } finally {
        this.requests -= 1;
        this.waitingBytes -= bytes.length;
        this.pressure.released(bytes.length);
        this.drain.left();
      }
    });
  }

  private rejection(bytes: number, isBinary: boolean): ApiError | null {
    if (this.drain.isDraining) return new ApiError('service_draining', { retryAfterSeconds: 1 });
    if (isBinary)
      return new ApiError('validation_error', {
        message: 'A message has to be text that holds one JSON object.',
      });
    if (this.requests >= REQUESTS_MAX || this.waitingBytes + bytes > BODY_LIMIT_BYTES)
      return new ApiError('conflict', {
        message: `This connection has ${REQUESTS_MAX} requests waiting, or too many bytes of them: wait for an answer first.`,
      });
    return null;
  }

  private fail(error: unknown, streamId: string | null, requestId: string): void {
    const shown = asApiError(error);
    const { error: said } = errorEnvelope(shown, requestId);
    const message = { type: 'error', status: shown.status, error: said, request_id: requestId };
    // By this code clients of the protocol know to send the whole conversation again.
    if (said.code === 'resource_not_found' && said.param === 'previous_response_id')
      Object.assign(message, { status: 400, error: { ...said, code: 'previous_response_not_found' } });
    const { ws } = this.connection;
    ws.send(
      JSON.stringify(streamId === null ? message : { ...message, stream_id: streamId }),
      () => undefined,
    );
    if (ws.bufferedAmount > UNREAD_BYTES_MAX) ws.terminate();
  }
}

function streamIdOf({ value }: ParsedBody): string | null {
  const { stream_id: id } = value;
  return typeof id === 'string' && id.length <= STREAM_ID_LENGTH_MAX ? id : null;
}

function messageFault({ value: { type, generate } }: ParsedBody): ApiError | null {
  if (type !== 'response.create')
    return new ApiError('unsupported_operation', {
      message: `Messages of type ${String(type).slice(0, 80)} are not supported.`,
      param: 'type',
    });
  if (generate === false)
    return new ApiError('unsupported_operation', {
      message: 'A response without generation is not supported.',
      param: 'generate',
    });
  return null;
}
