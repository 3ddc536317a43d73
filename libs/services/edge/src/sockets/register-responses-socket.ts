import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { resolveVersion } from '@gateway/api-version';
import { ApiError, BODY_LIMIT_BYTES, errorEnvelope, HEADER, newId } from '@gateway/contracts';
import { ENDPOINTS, type Endpoint } from '@gateway/endpoints';
import type { Drain } from '@gateway/platform';
import type { FastifyInstance } from 'fastify';
import { WebSocketServer } from 'ws';
import type { EndpointDeps } from '../inference/endpoint.js';
import { callerOf, ResponsesSocket, type SocketDeps } from './responses-socket.js';

const PATHS = new Set(['/v1/responses', '/openai/v1/responses']);
/** Connections of one process, and what all of them may remember. */
const SOCKETS_MAX = 4_096;
const MEMORY_BYTES_MAX = 256 * 1_048_576;

/**
 * WebSocket mode of GET /v1/responses: each `response.create` is one request, and its events come as messages. A turn is
 * authenticated, admitted and recorded like any other request.
 */
export function registerResponsesSocket(instance: FastifyInstance, deps: EndpointDeps, drain: Drain): void {
  const endpoint = ENDPOINTS.find(({ paths }) => paths.includes('/responses'));
  if (!endpoint) return;
  const sockets = new Set<ResponsesSocket>();
  const socketDeps: SocketDeps = { ...deps, drain, room: { bytes: MEMORY_BYTES_MAX } };
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: BODY_LIMIT_BYTES,
    perMessageDeflate: false,
  });
  let opening = 0;
  const upgrade = async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    // Nobody else listens until the handshake, and an error that nobody hears ends the process.
    socket.on('error', () => undefined);
    opening += 1;
    try {
      const isFull = sockets.size + opening > SOCKETS_MAX;
      const apiVersion = await accept(request, endpoint, socketDeps, isFull);
      server.handleUpgrade(request, socket, head, (ws) => {
        const open = new ResponsesSocket(ws, request, endpoint, apiVersion, socketDeps);
        sockets.add(open);
        ws.once('close', () => sockets.delete(open));
      });
    } catch (error) {
      refuse(socket, error, newId('req', deps.clock, deps.random));
    } finally {
      opening -= 1;
    }
  };
  // What asks for another protocol, as clients of HTTP/2 do, is answered as if it had not.
  Object.assign(instance.server, { shouldUpgradeCallback: isOurs });
  instance.server.on('upgrade', (request, socket, head) => void upgrade(request, socket, head));
  instance.addHook('preClose', (done) => {
    for (const socket of sockets) socket.leave();
    done();
  });
}

function isOurs({ method, url = '', headers }: IncomingMessage): boolean {
  return (
    method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket' && PATHS.has(url.split('?', 1)[0])
  );
}

/** The version that the caller speaks, checked with the caller in the order of every request. */
async function accept(
  request: IncomingMessage,
  endpoint: Endpoint,
  deps: SocketDeps,
  isFull: boolean,
): Promise<string> {
  const header = request.headers[HEADER.serviceVersion.toLowerCase()];
  resolveVersion(header, null);
  if (deps.drain.isDraining) throw new ApiError('service_draining', { retryAfterSeconds: 1 });
  const principal = await callerOf(request, endpoint, deps);
  if (isFull) throw new ApiError('service_unavailable', { retryAfterSeconds: 1 });
  return resolveVersion(header, header === undefined ? principal.apiVersion : null);
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
