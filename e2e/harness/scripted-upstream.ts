import { Agent, createServer, request as send, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startUpstreamSim } from '@gateway/simulator';

export interface ScriptedUpstream {
  /** Without a slash at the end and without /v1. */
  url: string;
  /** Requests that arrived since the last call of `say`. */
  seen(): number;
  /** What becomes of the next requests, one script of the simulator each; '' and those after the last are answered. */
  say(...scripts: string[]): void;
  /** What becomes of every request from now on, where `say` has nothing for it. */
  always(script: string): void;
  /** Answers that are being sent. */
  open(): number;
  /** When each one that its caller left was closed, in milliseconds of `performance.now()`. */
  leftAtMs(): readonly number[];
  close(): Promise<void>;
}

/** The simulated provider with faults to order, because the models of the catalogue have names of their own. */
export async function startScriptedUpstream(): Promise<ScriptedUpstream> {
  const simulator = await startUpstreamSim({ record: 0 });
  const agent = new Agent({ keepAlive: true, maxSockets: Infinity });
  let scripts: string[] = [];
  let usual = '';
  let count = 0;
  const open = new Set<ServerResponse>();
  const leftAtMs: number[] = [];
  const server = createServer((request, response) => {
    count += 1;
    open.add(response);
    response.once('close', () => {
      open.delete(response);
      if (!response.writableFinished) leftAtMs.push(performance.now());
    });
    pass(request, response, { origin: simulator.url, agent, script: scripts.shift() ?? usual });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen: () => count,
    say: (...next) => {
      scripts = next;
      count = 0;
    },
    always: (script) => {
      usual = script;
      scripts = [];
      count = 0;
    },
    open: () => open.size,
    leftAtMs: () => leftAtMs,
    close: async () => {
      server.closeAllConnections();
      agent.destroy();
      await new Promise((resolve) => server.close(resolve));
      await simulator.close();
    },
  };
}

/** Streams both ways; whoever leaves first closes the other side. */
function pass(
  request: IncomingMessage,
  response: ServerResponse,
  { origin, agent, script }: { origin: string; agent: Agent; script: string },
): void {
  const kept = ['authorization', 'x-api-key', 'anthropic-version', 'content-type', 'content-length'];
  const headers = Object.fromEntries(
    kept.flatMap((name) => {
      const value = request.headers[name];
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  ) as Record<string, string>;
  if (script !== '') headers['x-sim'] = script;
  const passed = send(`${origin}${request.url}`, { method: request.method, headers, agent }, (answer) => {
    const told = ['content-type', 'retry-after', 'content-length'].flatMap((name) => {
      const value = answer.headers[name];
      return typeof value === 'string' ? [[name, value]] : [];
    });
    response.writeHead(answer.statusCode ?? 502, Object.fromEntries(told) as Record<string, string>);
    answer.on('error', () => response.destroy());
    answer.pipe(response);
  });
  passed.on('error', () => response.destroy());
  response.once('close', () => passed.destroy());
  request.pipe(passed);
}
