import { connect, type Socket } from 'node:net';
import { once } from 'node:events';

/** The bytes received over one connection until the other side closed it. */
export interface RawAnswer {
  /** Status of every answer, in order. */
  statuses: number[];
  text: string;
}

/** Nothing that is refused waits longer. */
const CLOSED_WITHIN_MS = 60_000;

/** A connection to a gateway that sends what no HTTP library would. */
export async function rawSocket(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** Sends bytes and reads until the gateway closes. @throws Error where it leaves the connection open. */
export async function sendRaw(url: string, bytes: Buffer): Promise<RawAnswer> {
  const socket = await rawSocket(url);
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
  socket.write(bytes);
  const late = AbortSignal.timeout(CLOSED_WITHIN_MS);
  try {
    await once(socket, 'close', { signal: late });
  } catch {
    throw new Error(`the connection stays open after: ${text.slice(0, 400)}`);
  } finally {
    socket.destroy();
  }
  return { statuses: [...text.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => Number(status)), text };
}
