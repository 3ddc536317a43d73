import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import { RealtimeSockets } from './realtime/realtime-sockets.js';
import { ResponsesSockets } from './responses-sockets.js';
import type { SocketKind } from './socket-kind.js';

/** The WebSockets of inference: all that asks for one comes through here. */
@Injectable()
export class Sockets {
  constructor(
    private readonly responses: ResponsesSockets,
    private readonly realtime: RealtimeSockets,
  ) {}

  register(instance: FastifyInstance): void {
    const kinds: readonly SocketKind[] = [this.responses, this.realtime];
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
}
