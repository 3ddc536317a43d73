import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

/** The handler of sockets on some paths. */
export interface SocketKind {
  readonly paths: ReadonlySet<string>;
  /** Upgrades and never throws: a socket that cannot be opened is refused on the connection. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void>;
  /** Closes after the drain: what still runs has had its time. */
  leave(): void;
}
