import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One webhook as it was sent. */
export interface ReceivedHook {
  headers: IncomingHttpHeaders;
  body: string;
}

export interface HookReceiver {
  /** Host and port, as `ALERTS_ALLOW_PRIVATE` wants them. */
  place: string;
  close(): void;
}

const HOOKS_PER_PATH_MAX = 1_000;

/** Starts a server that keeps what is posted to each of its paths, and answers it to a GET of the path, oldest first. */
export async function startHookReceiver(): Promise<HookReceiver> {
  const received = new Map<string, ReceivedHook[]>();
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    if (request.method === 'GET') return void response.end(JSON.stringify(received.get(path) ?? []));
    let body = '';
    request.setEncoding('utf8').on('data', (piece: string) => (body += piece));
    request.on('end', () => {
      const before = received.get(path) ?? [];
      received.set(path, [...before, { headers: request.headers, body }].slice(-HOOKS_PER_PATH_MAX));
      response.end();
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    place: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
