import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { parseRequest, type WireRequest } from './http-parse.js';
import type { Interruptible } from './pace.js';

/**
 * One request and the raw way back to its caller. The writer owns the bytes of the answer, head included,
 * because breaking HTTP on purpose is half of what this server is for.
 */
export interface Exchange extends Interruptible {
  readonly request: WireRequest;
  /** False when the socket's buffer is full: await drained() before the next write. */
  write(bytes: Buffer | string): boolean;
  drained(): Promise<void>;
  /** The answer is complete: keeps the connection for the next request or closes it as the caller asked. */
  finish(): void;
  /** Closes in the middle of the answer: a FIN, or a RST with `hard`. */
  cut(hard: boolean): void;
}

export interface HttpServer {
  readonly port: number;
  /** Connections open now and accepted since the start. */
  connections(): { open: number; accepted: number };
  close(): Promise<void>;
}

/** A request that asks for another protocol, with its raw connection; what came behind its head is `head`. */
export type UpgradeHandler = (request: WireRequest, socket: Socket, head: Buffer) => void;

/** More than one unread pipelined request of this size on a connection stops the reading. */
const MAX_UNREAD_BYTES = 128 * 1024 * 1024;

/**
 * A small HTTP/1.1 server on node:net: keep-alive, pipelining, Content-Length and chunked request bodies,
 * 100-continue. It exists beside node:http because it is measured faster and lets a script send any bytes.
 */
export async function serveHttp(
  address: { host: string; port: number },
  handle: (exchange: Exchange) => void,
  upgrade?: UpgradeHandler,
): Promise<HttpServer> {
  const sockets = new Set<Socket>();
  let accepted = 0;
  const server: Server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    accepted += 1;
    new Connection(socket, handle, upgrade);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(address.port, address.host, resolve);
  });
  return {
    port: portOf(server.address()),
    connections: () => ({ open: sockets.size, accepted }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
        sockets.clear();
      }),
  };
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('the simulator listens on TCP only');
  return address.port;
}

class Connection {
  private unread: Buffer[] = [];
  private unreadBytes = 0;
  private needed = 0;
  private current: LiveExchange | undefined;
  private continued = false;
  private isReading = false;

  constructor(
    private readonly socket: Socket,
    private readonly handle: (exchange: Exchange) => void,
    private readonly upgrade: UpgradeHandler | undefined,
  ) {
    socket.on('data', (chunk: Buffer) => this.receive(chunk));
    socket.on('end', () => this.lost());
    socket.on('close', () => this.lost());
    // A reset by the caller arrives here first; 'close' follows and does the work.
    socket.on('error', () => undefined);
  }

  private receive(chunk: Buffer): void {
    this.unread.push(chunk);
    this.unreadBytes += chunk.length;
    if (this.unreadBytes > MAX_UNREAD_BYTES) this.socket.destroy();
    else this.readOn();
  }

  /** Handles requests one by one: a pipelined one waits until the answer before it is finished. */
  private readOn(): void {
    if (this.isReading) return;
    this.isReading = true;
    while (this.current === undefined && this.unreadBytes > 0 && this.unreadBytes >= this.needed) {
      if (!this.readOne()) break;
    }
    this.isReading = false;
  }

  private readOne(): boolean {
    const bytes = this.unread.length === 1 ? this.unread[0] : Buffer.concat(this.unread, this.unreadBytes);
    const parsed = parseRequest(bytes, 0);
    if (parsed.kind === 'bad') {
      this.socket.end(
        `HTTP/1.1 ${parsed.status} Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`,
      );
      return false;
    }
    if (parsed.kind === 'more') {
      this.unread = [bytes];
      this.needed = parsed.need;
      if (parsed.expectsContinue && !this.continued) {
        this.continued = true;
        this.socket.write('HTTP/1.1 100 Continue\r\n\r\n');
      }
      return false;
    }
    this.needed = 0;
    this.continued = false;
    this.unreadBytes = bytes.length - parsed.end;
    this.unread = this.unreadBytes === 0 ? [] : [bytes.subarray(parsed.end)];
    if (this.upgrade !== undefined && parsed.request.headers.upgrade?.toLowerCase() === 'websocket') {
      this.socket.removeAllListeners('data').removeAllListeners('end');
      this.upgrade(parsed.request, this.socket, bytes.subarray(parsed.end));
      return false;
    }
    this.current = new LiveExchange(parsed.request, this.socket, () => this.next());
    this.handle(this.current);
    return true;
  }

  private next(): void {
    this.current = undefined;
    if (!this.socket.destroyed) this.readOn();
  }

  private lost(): void {
    const exchange = this.current;
    this.current = undefined;
    this.unread = [];
    this.unreadBytes = 0;
    exchange?.lose();
  }
}

class LiveExchange implements Exchange {
  closed = false;
  private listeners: Set<() => void> | undefined;

  constructor(
    readonly request: WireRequest,
    private readonly socket: Socket,
    private readonly next: () => void,
  ) {}

  write(bytes: Buffer | string): boolean {
    return this.closed || this.socket.write(bytes);
  }

  drained(): Promise<void> {
    if (this.closed || !this.socket.writableNeedDrain) return Promise.resolve();
    return new Promise((resolve) => {
      const stopListening = this.onClose(resolve);
      this.socket.once('drain', () => {
        stopListening();
        resolve();
      });
    });
  }

  finish(): void {
    if (this.closed) return;
    this.closed = true;
    this.listeners = undefined;
    if (this.request.keepAlive) this.next();
    else this.socket.end();
  }

  cut(hard: boolean): void {
    if (hard) this.socket.resetAndDestroy();
    else this.socket.end();
    // The listeners wait for the caller to hang up; this end is our own.
    this.closed = true;
    this.listeners = undefined;
  }

  onClose(listener: () => void): () => void {
    if (this.closed) listener();
    else (this.listeners ??= new Set()).add(listener);
    return () => this.listeners?.delete(listener);
  }

  lose(): void {
    if (this.closed) return;
    this.closed = true;
    const listeners = this.listeners;
    this.listeners = undefined;
    for (const listener of listeners ?? []) listener();
  }
}
