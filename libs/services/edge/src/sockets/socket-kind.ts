import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

/** What is opened on some paths. */
export interface SocketKind {
  readonly paths: ReadonlySet<string>;
  /** Never throws: what cannot be opened is refused on the connection. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void>;
  /** After the drain: what still runs has had its time. */
  leave(): void;
}
