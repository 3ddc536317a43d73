import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { resolveVersion } from '@gateway/api-version';
import { ApiError, BODY_LIMIT_BYTES, errorEnvelope, HEADER, newId } from '@gateway/contracts';
import { ENDPOINTS, type Endpoint } from '@gateway/endpoints';
import { WebSocketServer } from 'ws';
import type { InferDeps } from '../inference/infer-deps.js';
import { countIntake } from './socket-intake.js';
import type { SocketKind } from './socket-kind.js';
import { callerOf, ResponsesSocket, type SocketDeps } from './responses-socket.js';
import type { Place, SocketBudget } from './socket-room.js';

const PATHS = new Set(['/v1/responses', '/openai/v1/responses']);
/** Size of the memory of all connections of one process. */
const MEMORY_BYTES_MAX = 256 * 1_048_576;

/**
 * WebSocket mode of GET /v1/responses: each `response.create` is one request, and its events come as messages. A turn is
 * authenticated, admitted and recorded like any other request.
 */
export function responsesSockets(deps: InferDeps, room: SocketBudget): SocketKind {
  const endpoint = endpointOf('/responses');
  const sockets = new Set<ResponsesSocket>();
  const socketDeps: SocketDeps = { ...deps, room: { bytes: MEMORY_BYTES_MAX } };
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: BODY_LIMIT_BYTES,
    perMessageDeflate: false,
  });
  const upgrade = async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    const places: Place[] = [];
    const leave = (): void => places.forEach((place) => place());
    socket.once('close', leave);
    try {
      const place = room.enter();
      if (place !== null) places.push(place);
      const { accountId, apiVersion } = await accept(request, endpoint, socketDeps, (account) => {
        if (place === null) throw new ApiError('service_unavailable', { retryAfterSeconds: 1 });
        places.push(room.claim(account));
      });
      if (socket.destroyed) return leave();
      server.handleUpgrade(request, socket, head, (ws) => {
        const open = new ResponsesSocket(ws, request, endpoint, apiVersion, socketDeps);
        sockets.add(open);
        countIntake({
          ...{ ws, socket, room: deps.pressure.ofAccount(accountId) },
          refuse: (error) => open.refuse(error),
          after: (ms, then) => deps.deadlines.set(ms, then),
        });
        ws.once('close', () => sockets.delete(open));
      });
    } catch (error) {
      refuse(socket, error, newId('req', deps.clock, deps.random));
    }
  };
  const leave = (): void => {
    for (const socket of sockets) socket.leave();
  };
  return { paths: PATHS, upgrade, leave };
}

function endpointOf(path: string): Endpoint {
  const found = ENDPOINTS.find(({ paths }) => paths.includes(path));
  if (!found) throw new TypeError(`no endpoint at ${path}`);
  return found;
}

/** Accepts the caller and their version, checked in the order of every request. */
async function accept(
  request: IncomingMessage,
  endpoint: Endpoint,
  deps: SocketDeps,
  claim: (accountId: string) => void,
): Promise<{ accountId: string; apiVersion: string }> {
  const header = request.headers[HEADER.serviceVersion.toLowerCase()];
  resolveVersion(header, null);
  if (deps.drain.isDraining) throw new ApiError('service_draining', { retryAfterSeconds: 1 });
  const principal = await callerOf(request, endpoint, deps);
  claim(principal.accountId);
  const apiVersion = resolveVersion(header, header === undefined ? principal.apiVersion : null);
  return { accountId: principal.accountId, apiVersion };
}

function refuse(socket: Duplex, error: unknown, requestId: string): void {
  const shown = error instanceof ApiError ? error : new ApiError('internal_error', { cause: error });
  const body = JSON.stringify(errorEnvelope(shown, requestId));
  socket.end(
    `HTTP/1.1 ${shown.status} Refused\r\ncontent-type: application/json\r\nx-request-id: ${requestId}\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    () => socket.destroy(),
  );
}
