import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { WebSocketServer } from 'ws';
import { chatDialect } from '../chat.js';
import type { WireRequest } from '../http-parse.js';
import { LiveSession } from './live-session.js';
import { RealtimeSession } from './realtime-session.js';

const SESSIONS_KEPT_MAX = 1_000;

/** Sessions on a WebSocket: OpenAI's protocol at any path that ends in /realtime, Google's at its own. */
export class RealtimeSim {
  readonly sessions: RealtimeSession[] = [];
  readonly liveSessions: LiveSession[] = [];
  private readonly server = new WebSocketServer({ noServer: true, perMessageDeflate: false });

  upgrade(request: WireRequest, socket: Socket, head: Buffer): void {
    socket.on('error', () => undefined);
    const { pathname, searchParams } = new URL(request.path, 'http://sim');
    const model = searchParams.get('model') ?? '';
    const isLive = pathname.endsWith('.BidiGenerateContent');
    const refused =
      isLive || pathname.endsWith('/realtime')
        ? chatDialect.checkHeaders(withGoogleKey(request.headers))
        : chatDialect.refuse(404, `Invalid URL (GET ${pathname})`);
    const error = refused ?? (model.includes('busy') ? chatDialect.errors.get('503-overloaded') : undefined);
    if (error !== undefined) {
      const body = JSON.stringify(error.body);
      socket.end(
        `HTTP/1.1 ${error.status} Refused\r\ncontent-type: application/json\r\n` +
          `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
      );
      return;
    }
    const { method, headers } = request;
    // All that the handshake looks at.
    const shaped = { method, headers, url: request.path, socket } as unknown as IncomingMessage;
    this.server.handleUpgrade(shaped, socket, head, (ws) => {
      if (isLive) {
        if (this.liveSessions.length >= SESSIONS_KEPT_MAX) this.liveSessions.shift();
        this.liveSessions.push(new LiveSession(ws));
        return;
      }
      if (this.sessions.length >= SESSIONS_KEPT_MAX) this.sessions.shift();
      this.sessions.push(new RealtimeSession(ws, model, request));
    });
  }
}

function withGoogleKey(headers: WireRequest['headers']): WireRequest['headers'] {
  const key = headers['x-goog-api-key'];
  return key === undefined ? headers : { ...headers, authorization: `Bearer ${key}` };
}
