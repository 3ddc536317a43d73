import { Agent, createServer, request as send, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '@gateway/testing';

export interface Balancer {
  /** Address without a slash at the end. */
  url: string;
  /** Sends traffic to this replica too, as long as its `/readyz` is 200. */
  add(url: string): void;
  remove(url: string): void;
  /** Waits until it sends traffic to this replica. */
  untilReady(url: string): Promise<void>;
  close(): Promise<void>;
}

const PROBE_EVERY_MS = 100;
/** Time that a request waits for a replica: one may be ready that this balancer has not asked again yet. */
const QUEUE_MS = 5_000;

/**
 * Starts a balancer before the replicas of a service, with what the operations pages ask of one. It sends requests to
 * ready replicas in turn. One that no replica has taken (no connection, or 503 with `x-should-retry`) goes to the next.
 */
export async function startBalancer(): Promise<Balancer> {
  const replicas = new Map<string, Replica>();
  let turn = 0;
  const server = createServer((incoming, outgoing) => {
    const nextTarget = (): Replica[] => {
      turn += 1;
      const ready = [...replicas.values()].filter(({ isReady }) => isReady);
      return ready.map((_, at) => ready[(at + turn) % ready.length]);
    };
    void forward(incoming, outgoing, nextTarget).catch((error: Error) => {
      if (outgoing.headersSent) outgoing.destroy();
      else outgoing.writeHead(502, { 'content-type': 'text/plain' }).end(error.message);
    });
  });
  // A replica's `Keep-Alive` reaches the caller: what is kept is the caller's to close, or it asks where nobody listens.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    add: (url) => void replicas.set(url, new Replica(url)),
    remove: (url) => {
      replicas.get(url)?.forget();
      replicas.delete(url);
    },
    untilReady: (url) => untilReady(replicas, url),
    close: async () => {
      for (const replica of replicas.values()) replica.forget();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Waits until the last probe of a replica found it ready. */
export async function untilReady(replicas: ReadonlyMap<string, Replica>, url: string): Promise<void> {
  await eventually(() => replicas.get(url)?.isReady);
}

/** One process behind a balancer, and whether it is ready. */
export class Replica {
  isReady = false;
  readonly agent = new Agent({ keepAlive: true, maxSockets: Infinity });
  private isForgotten = false;

  constructor(
    readonly url: string,
    private readonly probeEveryMs = PROBE_EVERY_MS,
  ) {
    void this.watch();
  }

  forget(): void {
    this.isForgotten = true;
    this.agent.destroy();
  }

  private async watch(): Promise<void> {
    while (!this.isForgotten) {
      this.isReady = (await fetch(`${this.url}/readyz`).catch(() => null))?.status === 200;
      await pause(this.probeEveryMs);
    }
  }
}

async function forward(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  nextTarget: () => Replica[],
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  for (let waitedMs = 0; waitedMs < QUEUE_MS; waitedMs += PROBE_EVERY_MS) {
    const answer = await firstAnswer(nextTarget(), incoming, body, outgoing);
    if (answer !== null) {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.on('error', () => outgoing.destroy());
      answer.pipe(outgoing);
      return;
    }
    await pause(PROBE_EVERY_MS);
  }
  outgoing.writeHead(502, { 'content-type': 'text/plain' }).end('No replica took the request.');
}

/** Returns the answer of the first replica that takes the request; null where none does. */
async function firstAnswer(
  replicas: Replica[],
  incoming: IncomingMessage,
  body: Buffer,
  outgoing: ServerResponse,
): Promise<IncomingMessage | null> {
  for (const [at, replica] of replicas.entries()) {
    const answer = await ask(replica, incoming, body, outgoing);
    if (answer === 'not connected') continue;
    const isLast = at === replicas.length - 1;
    if (answer.statusCode !== 503 || answer.headers['x-should-retry'] !== 'true' || isLast) return answer;
    answer.resume();
  }
  return null;
}

function ask(
  replica: Replica,
  { method, url, headers }: IncomingMessage,
  body: Buffer,
  outgoing: ServerResponse,
): Promise<IncomingMessage | 'not connected'> {
  return new Promise((resolve, reject) => {
    const request = send(`${replica.url}${url}`, { method, headers, agent: replica.agent }, resolve);
    outgoing.once('close', () => request.destroy());
    request.on('error', (error: NodeJS.ErrnoException) => {
      // A kept connection that its end had just closed has carried nothing either.
      const isUntouched =
        error.code === 'ECONNREFUSED' ||
        (request.reusedSocket && ['ECONNRESET', 'EPIPE'].includes(error.code ?? ''));
      // A caller that has left ends its request in the same way: it may have begun.
      if (isUntouched && !outgoing.destroyed) resolve('not connected');
      else {
        const connection = request.reusedSocket ? 'kept' : 'new';
        reject(new Error(`${error.code} on a ${connection} connection to ${replica.url}`, { cause: error }));
      }
    });
    request.end(body);
  });
}
