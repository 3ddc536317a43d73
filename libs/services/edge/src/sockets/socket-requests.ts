import type { IncomingMessage } from 'node:http';
import { spliceMembers, type ParsedBody } from '@gateway/json-body';
import { Inject, Injectable } from '@nestjs/common';
import { newId, type Clock, type KeyPrincipal, type Random } from '@gateway/contracts';
import { CLOCK, credentialOfRequest, RANDOM } from '@gateway/platform';
import type { WebSocket } from 'ws';
import { Inference } from '../inference/inference.js';
import { brokenOff } from '../request/as-api-error.js';
import { Callers } from '../request/callers.js';
import { Clients } from '../request/client.js';
import { endpointAt } from '../request/endpoint-at.js';
import type { SessionMemory } from '../state/session-memory.js';
import { SocketAnswer } from './socket-answer.js';

const ENDPOINT = endpointAt('/responses');

/** A connection as its requests need it. */
export interface SocketConnection {
  ws: WebSocket;
  /** The handshake, with the caller's headers. */
  handshake: IncomingMessage;
  apiVersion: string;
  memory: SessionMemory;
}

/** Messages of sockets, each run as one request: authenticated, admitted and recorded like any other. */
@Injectable()
export class SocketRequests {
  constructor(
    private readonly inference: Inference,
    private readonly callers: Callers,
    private readonly clients: Clients,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  newId(): string {
    return newId('req', this.clock, this.random);
  }

  /** Returns the caller. Throws ApiError where the key may not call. */
  callerOf(handshake: IncomingMessage): Promise<KeyPrincipal> {
    return this.callers.resolve(credentialOfRequest(handshake), ENDPOINT.permission);
  }

  /** Runs one message. Throws what was not sent in-band, while somebody is there to read it. */
  async run(
    { ws, handshake, apiVersion, memory: session }: SocketConnection,
    message: ParsedBody,
    streamId: string | null,
    requestId: string,
  ): Promise<void> {
    const receivedAtMs = this.clock.now();
    const startedMs = this.clock.monotonic();
    const changes = { type: undefined, stream_id: undefined, generate: undefined, stream: true };
    // Read for each message: a key that was suspended since makes no further request.
    const principal = await this.callerOf(handshake);
    const answer = new SocketAnswer(ws, streamId);
    const client = this.clients.of(answer);
    const memory = session.turn();
    const request = {
      requestId,
      unitIndex: 0,
      endpoint: ENDPOINT,
      path: '/v1/responses',
      principal,
      apiVersion,
      receivedAtMs,
      startedMs,
      headers: handshake.headers,
      bytes: Buffer.concat(spliceMembers(message, changes).pieces),
      origin: { kind: 'socket' as const, memory },
      reload: async () => this.callers.reload(credentialOfRequest(handshake), ENDPOINT.permission),
    };
    try {
      await this.inference.run(request, client);
      if (!answer.writableEnded) throw brokenOff();
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
