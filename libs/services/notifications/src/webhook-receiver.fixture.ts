import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  /** Body, to the byte. */
  body: string;
  event: { id: string; type: string; created_at: string; org_id: string; data: Record<string, unknown> };
}

/** An endpoint that somebody has registered. Only specs start it. */
export interface WebhookReceiver {
  url: string;
  /** `host:port`. */
  place: string;
  /** Requests in the order they came. */
  received: Received[];
  of(type: string): Received[];
  /** Answers to the next requests, in turn; afterwards 200. */
  answers: ((response: ServerResponse) => void)[];
  close(): Promise<void>;
}

export async function startReceiver(host = '127.0.0.1'): Promise<WebhookReceiver> {
  const received: Received[] = [];
  const answers: WebhookReceiver['answers'] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      const event = JSON.parse(body) as Received['event'];
      received.push({ path: request.url ?? '', headers: request.headers, body, event });
      const answer = answers.shift() ?? ((ok: ServerResponse) => void ok.writeHead(200).end('thank you'));
      answer(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host}:${port}/hook`,
    place: `${host}:${port}`,
    received,
    of: (type) => received.filter(({ event }) => event.type === type),
    answers,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
