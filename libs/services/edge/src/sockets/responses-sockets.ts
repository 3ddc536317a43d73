import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { resolveVersion } from '@gateway/api-version';
import { Injectable } from '@nestjs/common';
import { ApiError, BODY_LIMIT_BYTES, errorEnvelope, HEADER } from '@gateway/contracts';
import { Deadlines, Drain, Pressure } from '@gateway/platform';
import { WebSocketServer } from 'ws';
import { asApiError } from '../request/as-api-error.js';
import { SessionMemory } from '../state/session-memory.js';
import { countIntake } from './socket-intake.js';
import type { SocketKind } from './socket-kind.js';
import { ResponsesSocket } from './responses-socket.js';
import { SocketBudget, type Place } from './socket-budget.js';
import { SocketRequests } from './socket-requests.js';

/** Size of the memory of all connections of one process. */
const MEMORY_BYTES_MAX = 256 * 1_048_576;

/** WebSocket mode of GET /v1/responses: each `response.create` is one request, and its events come as messages. */
@Injectable()
export class ResponsesSockets implements SocketKind {
  readonly paths = new Set(['/v1/responses', '/openai/v1/responses']);
  private readonly sockets = new Set<ResponsesSocket>();
  private readonly memory = { bytes: MEMORY_BYTES_MAX };
  private readonly server = new WebSocketServer({
    noServer: true,
    maxPayload: BODY_LIMIT_BYTES,
    perMessageDeflate: false,
  });

  constructor(
    private readonly budget: SocketBudget,
    private readonly requests: SocketRequests,
    private readonly pressure: Pressure,
    private readonly drain: Drain,
    private readonly deadlines: Deadlines,
  ) {}

  async upgrade(handshake: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const { budget, deadlines, drain, pressure, requests, sockets } = this;
    const places: Place[] = [];
    const leave = (): void => places.forEach((place) => place());
    socket.once('close', leave);
    try {
      const place = budget.enter();
      if (place !== null) places.push(place);
      const { accountId, apiVersion } = await this.accept(handshake, (account) => {
        if (place === null) throw new ApiError('service_unavailable', { retryAfterSeconds: 1 });
        places.push(budget.claim(account));
      });
      if (socket.destroyed) return leave();
      this.server.handleUpgrade(handshake, socket, head, (ws) => {
        const memory = new SessionMemory(this.memory);
        const connection = { ws, handshake, apiVersion, memory };
        const open = new ResponsesSocket(connection, requests, pressure, drain, deadlines);
        sockets.add(open);
        countIntake({
          ...{ ws, socket, budget: pressure.ofAccount(accountId) },
          refuse: (error) => open.refuse(error),
          after: (ms, then) => deadlines.set(ms, then),
        });
        ws.once('close', () => sockets.delete(open));
      });
    } catch (error) {
      refuse(socket, error, requests.newId());
    }
  }

  leave(): void {
    for (const socket of this.sockets) socket.leave();
  }

  /** Accepts the caller and their version, checked in the order of every request. */
  private async accept(
    handshake: IncomingMessage,
    claim: (accountId: string) => void,
  ): Promise<{ accountId: string; apiVersion: string }> {
    const header = handshake.headers[HEADER.serviceVersion.toLowerCase()];
    resolveVersion(header, null);
    if (this.drain.isDraining) throw new ApiError('service_draining', { retryAfterSeconds: 1 });
    const principal = await this.requests.callerOf(handshake);
    claim(principal.accountId);
    const apiVersion = resolveVersion(header, header === undefined ? principal.apiVersion : null);
    return { accountId: principal.accountId, apiVersion };
  }
}

function refuse(socket: Duplex, error: unknown, requestId: string): void {
  const shown = asApiError(error);
  const body = JSON.stringify(errorEnvelope(shown, requestId));
  socket.end(
    `HTTP/1.1 ${shown.status} Refused\r\ncontent-type: application/json\r\nx-request-id: ${requestId}\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    () => socket.destroy(),
  );
}
