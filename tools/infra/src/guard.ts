// The process that owns the servers of one run. Its standard input is a pipe from the runner: at end-of-file, which
// comes also when the runner is killed with kill -9, it stops the servers, removes the run folder and ends.
//
//   guard.ts <run folder>                     serves requests on <run folder>/guard.sock
//   guard.ts <run folder> postgres redis …    also starts these at once and prints their addresses as one JSON line
import { mkdirSync, rmSync, copyFileSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { createTopics } from './kafka-topics.js';
import { Services } from './services.js';
import type { StackKind } from './stack.js';

const BODY_BYTES_MAX = 64 * 1024;
/** A start under way may take as long as a download, and a stack ends in order; both end with the run, even if they hang. */
const CLOSE_MS = 90_000;
const NAMES = { postgres: 'DATABASE_URL', redis: 'REDIS_URL', kafka: 'KAFKA_BROKERS' } as const;

const [folder, ...wanted] = process.argv.slice(2);
mkdirSync(folder, { recursive: true, mode: 0o711 });
const services = new Services(folder, process.env);
let isClosing = false;

async function close(exitCode: number): Promise<void> {
  if (isClosing) return;
  isClosing = true;
  setTimeout(() => process.exit(1), CLOSE_MS).unref();
  await services.close();
  if (process.env['GATEWAY_LEFTOVERS']) keepLogs(folder, process.env['GATEWAY_LEFTOVERS']);
  rmSync(folder, { recursive: true, force: true });
  process.exit(exitCode);
}

process.stdin.resume();
process.stdin.once('close', () => void close(0));
process.stdin.once('error', () => void close(0));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void close(0));
process.on('uncaughtException', (error) => {
  console.error(error);
  void close(1);
});

const server = createServer((request, response) => {
  answer(request).then(
    (body) => response.end(JSON.stringify(body)),
    (error: unknown) => {
      response.statusCode = 500;
      response.end(JSON.stringify({ error: error instanceof Error ? error.message : String(error) }));
    },
  );
});
// Installing a program and downloading the broker may take minutes on a fresh machine.
server.requestTimeout = 0;
server.listen(join(folder, 'guard.sock'));
if (wanted.length > 0) await startWanted();

async function answer(request: IncomingMessage): Promise<unknown> {
  const body = await readBody(request);
  switch (request.url) {
    case '/shared':
      return { address: await services.sharedAddress(knownKind(body['kind'])) };
    case '/own': {
      const { kind: wished } = body;
      if (wished === 'secured-redis' || wished === 'secured-kafka') return services.startOwn(wished);
      const kind = knownKind(wished);
      if (kind === 'redis-cluster') throw new Error('A cluster of its own is not offered.');
      return services.startOwn(kind);
    }
    case '/own/restart':
      return services.restartOwn(String(body['id']));
    case '/own/stop':
      await services.stopOwn(String(body['id']));
      return {};
    case '/stack':
      return services.stack(knownStack(body['kind']));
    case '/topics':
      return createTopics(String(body['brokers']).split(','), {
        prefix: typeof body['prefix'] === 'string' ? body['prefix'] : '',
        replication: 1,
        partitionsMax: Number(body['partitionsMax'] ?? 4),
      });
    default:
      throw new Error(`The guard knows no ${request.url}.`);
  }
}

async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  let text = '';
  for await (const chunk of request) {
    text += String(chunk);
    if (text.length > BODY_BYTES_MAX) throw new Error('The request is too large.');
  }
  const body: unknown = JSON.parse(text || '{}');
  return typeof body === 'object' && body !== null ? Object.fromEntries(Object.entries(body)) : {};
}

function knownKind(kind: unknown): 'postgres' | 'redis' | 'kafka' | 'redis-cluster' {
  if (kind === 'postgres' || kind === 'redis' || kind === 'kafka' || kind === 'redis-cluster') return kind;
  throw new Error(`There is no server of kind ${String(kind)}.`);
}

function knownStack(kind: unknown): StackKind {
  if (kind === 'all-in-one' || kind === 'fleet') return kind;
  throw new Error(`There is no stack of kind ${String(kind)}.`);
}

async function startWanted(): Promise<void> {
  try {
    const kinds = wanted.map(knownKind).filter((kind) => kind !== 'redis-cluster');
    const addresses = await Promise.all(
      kinds.map(async (kind) => [NAMES[kind], await services.sharedAddress(kind)] as const),
    );
    console.log(JSON.stringify(Object.fromEntries(addresses)));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    await close(1);
  }
}

/** Copies what servers leave in files: records of Kafka (`*.log`, one folder a partition) and their own logs. */
function keepLogs(folder: string, leftovers: string): void {
  const target = join(leftovers, 'servers');
  mkdirSync(target, { recursive: true });
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith('.log')) continue;
    const path = join(entry.parentPath, entry.name);
    copyFileSync(path, join(target, path.slice(folder.length + 1).replaceAll('/', '_')));
  }
}
