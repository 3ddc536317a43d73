import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { InferDeps } from '../inference/infer-deps.js';
import { realtimeSockets } from './realtime/realtime-sockets.js';
import { responsesSockets } from './responses-sockets.js';
import type { SocketKind } from './socket-kind.js';
import { SocketBudget } from './socket-room.js';

/** The WebSockets of inference: all that asks for one comes through here. */
export function registerSockets(instance: FastifyInstance, deps: InferDeps): void {
  const room = new SocketBudget();
  const kinds = [responsesSockets(deps, room), realtimeSockets(deps, room)];
  const kindOf = ({ method, url = '', headers }: IncomingMessage): SocketKind | undefined => {
    if (method !== 'GET' || headers.upgrade?.toLowerCase() !== 'websocket') return undefined;
    const [path] = url.split('?', 1);
    return kinds.find(({ paths }) => paths.has(path));
  };
  // What asks for another protocol, as clients of HTTP/2 do, is answered as if it had not.
  Object.assign(instance.server, {
    shouldUpgradeCallback: (request: IncomingMessage) => kindOf(request) !== undefined,
  });
  instance.server.on('upgrade', (request, socket, head) => {
    // Nobody else listens until the handshake, and an error that nobody hears ends the process.
    socket.on('error', () => undefined);
    void kindOf(request)?.upgrade(request, socket, head);
  });
  instance.addHook('preClose', (done) => {
    for (const kind of kinds) kind.leave();
    done();
  });
}
