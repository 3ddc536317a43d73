import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Metrics } from './metrics.js';

const SENDING_MS = 5_000;
const CONNECTIONS_MAX = 16;

/** Address of the metrics; port 0 = any free one. */
export interface MetricsListener {
  host: string;
  port: number;
}

export interface MetricsServer {
  url: string;
  close(): Promise<void>;
}

/** `/metrics` on a port of its own, which nobody outside has to reach. Everything else there is 404. */
export async function serveMetrics(
  metrics: Pick<Metrics, 'registry' | 'scrape'>,
  { host, port }: MetricsListener,
): Promise<MetricsServer> {
  const server = createServer(
    { headersTimeout: SENDING_MS, requestTimeout: SENDING_MS, maxHeaderSize: 16_384 },
    (request, response) => {
      if (request.method !== 'GET' || request.url?.split('?')[0] !== '/metrics')
        return void response.writeHead(404).end();
      metrics.scrape().then(
        (text) => response.writeHead(200, { 'content-type': metrics.registry.contentType }).end(text),
        () => response.writeHead(500).end(),
      );
    },
  );
  server.maxConnections = CONNECTIONS_MAX;
  await listening(server, host, port);
  const { address, port: bound, family } = server.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}/metrics`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
}
