import type { IncomingMessage } from 'node:http';
import { ApiError, BODY_LIMIT_BYTES, errorEnvelope, newId, type KeyPrincipal } from '@gateway/contracts';
import { invalidBody } from '@gateway/dialects';
import { BodyFault, parseBody, type ParsedBody, spliceMembers } from '@gateway/json-body';
import type { Endpoint } from '@gateway/endpoints';
import { credentialOfRequest, permit } from '@gateway/platform';
import type { RawData, WebSocket } from 'ws';
import type { InferDeps } from '../inference/infer-deps.js';
import { Client } from '../request/client.js';
import { SessionMemory } from '../state/session-memory.js';
import { SocketAnswer } from './socket-answer.js';

/** Messages of one connection that run or wait; their bytes are at most those of one body. */
const TURNS_MAX = 8;
const STREAM_ID_LENGTH_MAX = 256;
/** Bytes of answers to faults that a client leaves unread. */
const UNREAD_BYTES_MAX = 1_048_576;
const PING_MS = 20_000;
const FAREWELL_MS = 1_000;
const SERVICE_RESTART = 1_012;

export type SocketDeps = InferDeps & { room: { bytes: number } };

/** Returns the caller, read for each turn: a key that was suspended since makes no further one. */
export async function callerOf(
  request: IncomingMessage,
  { permission }: Endpoint,
  { principals, clock }: SocketDeps,
  isReload = false,
): Promise<KeyPrincipal> {
  const credential = credentialOfRequest(request);
  const found = isReload ? await principals.reload(credential) : await principals.resolve(credential);
  const principal = permit(found, { key: { permission } }, clock);
  if (principal.kind !== 'key') throw new ApiError('forbidden');
  return principal;
}

/** One connection: its turns, one after the other, and what it remembers of them. */
export class ResponsesSocket {
  private readonly memory: SessionMemory;
  private turns = 0;
  private waitingBytes = 0;
  private previous: Promise<void> = Promise.resolve();
  private isAlive = true;

  constructor(
    private readonly ws: WebSocket,
    private readonly request: IncomingMessage,
    private readonly endpoint: Endpoint,
    private readonly apiVersion: string,
    private readonly deps: SocketDeps,
  ) {
    this.memory = new SessionMemory(deps.room);
    ws.on('message', (data, isBinary) => this.message(data, isBinary));
    ws.on('pong', () => (this.isAlive = true));
    ws.once('close', () => this.memory.close());
    // The close that follows says it all.
    ws.on('error', () => undefined);
    this.watch();
  }

  /** Closes after the drain: what still runs has had its time. */
  leave(): void {
    this.ws.close(SERVICE_RESTART, 'service_draining');
    this.deps.deadlines.set(FAREWELL_MS, () => this.ws.terminate());
  }

  /** Refuses a message that nobody reads to its end. */
  refuse(error: ApiError): void {
    this.fail(error, null, newId('req', this.deps.clock, this.deps.random));
  }

  private watch(): void {
    this.deps.deadlines.set(PING_MS, () => {
      if (this.ws.readyState !== this.ws.OPEN) return;
      if (!this.isAlive) return this.ws.terminate();
      this.isAlive = false;
      this.ws.ping();
      this.watch();
    });
  }

  private message(data: RawData, isBinary: boolean): void {
    const bytes = Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer);
    const requestId = newId('req', this.deps.clock, this.deps.random);
    const refusal = this.refusal(bytes.length, isBinary);
    const body = refusal ?? parseBody(bytes);
    if (body instanceof BodyFault) return this.fail(invalidBody(body.detail), null, requestId);
    if (body instanceof ApiError) return this.fail(body, null, requestId);
    const streamId = streamIdOf(body);
    const fault = messageFault(body);
    if (fault) return this.fail(fault, streamId, requestId);
    this.turns += 1;
    this.waitingBytes += bytes.length;
    this.deps.pressure.held(bytes.length);
    this.deps.drain.entered();
    this.previous = this.previous.then(async () => {
      try {
        // Whose client has left costs nothing.
        if (this.ws.readyState === this.ws.OPEN) await this.turn(body, streamId, requestId);
      } catch (error) {
        this.fail(error, streamId, requestId);
      } finally {
        this.turns -= 1;
        this.waitingBytes -= bytes.length;
        this.deps.pressure.released(bytes.length);
        this.deps.drain.left();
      }
    });
  }

  private refusal(bytes: number, isBinary: boolean): ApiError | null {
    if (this.deps.drain.isDraining) return new ApiError('service_draining', { retryAfterSeconds: 1 });
    if (isBinary)
      return new ApiError('validation_error', {
        message: 'A message has to be text that holds one JSON object.',
      });
    if (this.turns >= TURNS_MAX || this.waitingBytes + bytes > BODY_LIMIT_BYTES)
      return new ApiError('conflict', {
        message: `This connection has ${TURNS_MAX} requests waiting, or too many bytes of them: wait for an answer first.`,
      });
    return null;
  }

  private fail(error: unknown, streamId: string | null, requestId: string): void {
    const shown = error instanceof ApiError ? error : new ApiError('internal_error', { cause: error });
    const { error: said } = errorEnvelope(shown, requestId);
    const message = { type: 'error', status: shown.status, error: said, request_id: requestId };
    // By this code clients of the protocol know to send the whole conversation again.
    if (said.code === 'resource_not_found' && said.param === 'previous_response_id')
      Object.assign(message, { status: 400, error: { ...said, code: 'previous_response_not_found' } });
    this.ws.send(
      JSON.stringify(streamId === null ? message : { ...message, stream_id: streamId }),
      () => undefined,
    );
    if (this.ws.bufferedAmount > UNREAD_BYTES_MAX) this.ws.terminate();
  }

  private async turn(message: ParsedBody, streamId: string | null, requestId: string): Promise<void> {
    const { deps, endpoint, request } = this;
    const { clock, deadlines } = deps;
    const receivedAtMs = clock.now();
    const startedMs = clock.monotonic();
    const changes = { type: undefined, stream_id: undefined, generate: undefined, stream: true };
    const principal = await callerOf(request, endpoint, deps);
    const answer = new SocketAnswer(this.ws, streamId);
    const client = new Client(answer, () => ({}), clock, deadlines, deps.config.CLIENT_STALL_TIMEOUT_MS);
    const memory = this.memory.turn();
    const call = {
      requestId,
      unit: 0,
      endpoint,
      path: '/v1/responses',
      principal,
      apiVersion: this.apiVersion,
      receivedAtMs,
      startedMs,
      headers: request.headers,
      bytes: Buffer.concat(spliceMembers(message, changes).pieces),
      origin: { kind: 'socket' as const, memory },
      reload: () => callerOf(request, endpoint, deps, true),
    };
    try {
      await deps.inference.run(call, client);
      if (!answer.writableEnded)
        throw new ApiError('upstream_error', {
          providerCode: 'bad_response',
          message: 'The answer broke off.',
        });
    } catch (error) {
      // Sent in-band, or nobody is left to read it.
      if (!(answer.writableEnded || client.isGone)) throw error;
    } finally {
      memory.end();
      if (answer.writableEnded) await answer.ended();
      else answer.destroy();
    }
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
