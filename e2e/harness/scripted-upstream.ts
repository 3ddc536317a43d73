import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startUpstreamSim } from '@gateway/simulator';

export interface ScriptedUpstream {
  /** Without a slash at the end and without /v1. */
  url: string;
  /** Requests that arrived since the last call of `say`. */
  seen(): number;
  /** What becomes of the next requests, one script of the simulator each; '' and those after the last are answered. */
  say(...scripts: string[]): void;
  close(): Promise<void>;
}

/** The simulated provider with faults to order, because the models of the catalogue have names of their own. */
export async function startScriptedUpstream(): Promise<ScriptedUpstream> {
  const simulator = await startUpstreamSim({ record: 0 });
  let scripts: string[] = [];
  let count = 0;
  const server = createServer((request, response) => {
    count += 1;
    void pass(request, response, simulator.url, scripts.shift() ?? '').catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen: () => count,
    say: (...next) => {
      scripts = next;
      count = 0;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await simulator.close();
    },
  };
}

async function pass(
  request: IncomingMessage,
  response: ServerResponse,
  origin: string,
  script: string,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const kept = ['authorization', 'x-api-key', 'anthropic-version', 'content-type'];
  const headers = kept.flatMap((name) => {
    const value = request.headers[name];
    return typeof value === 'string' ? [[name, value]] : [];
  });
  if (script !== '') headers.push(['x-sim', script]);
  const answer = await fetch(`${origin}${request.url}`, {
    method: request.method,
    headers: Object.fromEntries(headers) as Record<string, string>,
    body: new Uint8Array(Buffer.concat(chunks)),
  });
  const type = answer.headers.get('content-type');
  const wait = answer.headers.get('retry-after');
  response.writeHead(answer.status, {
    ...(type === null ? {} : { 'content-type': type }),
    ...(wait === null ? {} : { 'retry-after': wait }),
  });
  response.end(Buffer.from(await answer.arrayBuffer()));
}
