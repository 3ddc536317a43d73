import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http';
import {
  createServer as createNetServer,
  type AddressInfo,
  type Server as NetServer,
  type Socket,
} from 'node:net';
import type { Clock } from '@gateway/contracts';
import { SystemClock } from '@gateway/platform';
import {
  TransportFailure,
  type SendOptions,
  type UpstreamRequest,
  type UpstreamResponse,
} from '@gateway/providers';
import { UndiciTransport } from './undici-transport.js';
import type { UpstreamTls } from './upstream-parts.js';

const BOUNDS = {
  connectTimeoutMs: 1_000,
  firstByteTimeoutMs: 5_000,
  idleTimeoutMs: 5_000,
  totalTimeoutMs: 10_000,
  maxBytes: 1_000_000,
};

/** A transport with the servers that it calls. */
export class TransportUnderTest {
  readonly transport: UndiciTransport;
  private readonly servers: (Server | NetServer)[] = [];

  constructor(
    clock: Clock = new SystemClock(),
    proxy?: { url: string; except: string },
    tls?: ReadonlyMap<string, UpstreamTls>,
  ) {
    this.transport = new UndiciTransport({ clock, connections: 64, connectTimeoutMs: 1_000, proxy, tls });
  }

  /** The URL of a server that speaks HTTP. */
  upstream(listener: RequestListener): Promise<string> {
    return this.listen(createHttpServer(listener));
  }

  /** The URL of a server that gets each connection. */
  connections(listener: (socket: Socket) => void): Promise<string> {
    return this.listen(
      createNetServer((socket) => {
        socket.setNoDelay(true).on('error', () => undefined);
        listener(socket);
      }),
    );
  }

  send(
    url: string,
    more: Partial<SendOptions> = {},
    body: readonly Uint8Array[] = [Buffer.from('{}')],
  ): Promise<UpstreamResponse> {
    const byteLength = body.reduce((sum, piece) => sum + piece.byteLength, 0);
    const request: UpstreamRequest = {
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json' },
      body,
      byteLength,
    };
    return this.transport.send(request, { ...BOUNDS, signal: new AbortController().signal, ...more });
  }

  async close(): Promise<void> {
    await this.transport.close();
    for (const server of this.servers) {
      if ('closeAllConnections' in server) server.closeAllConnections();
      server.close();
    }
  }

  private async listen(server: Server | NetServer): Promise<string> {
    this.servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/chat`;
  }
}

/** Returns the fault with which the work failed. */
export async function faultOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    if (error instanceof TransportFailure) return error.fault;
    throw error;
  }
  return 'no fault';
}

export async function collect(response: UpstreamResponse): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.chunks()) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
