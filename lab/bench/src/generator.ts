import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { percentile } from './figures.js';
import type { LoadFigures, LoadOptions } from './load.js';

/**
 * The load generator where wrk is missing: keep-alive connections, one request on each at a time, answers with a
 * Content-Length or in chunks. It takes more of the processor than wrk does, so figures by it are lower.
 */
const options = JSON.parse(readFileSync(process.argv[2], 'utf8')) as LoadOptions;
const { hostname, port } = new URL(options.url);
const more = Object.entries(options.headers ?? {})
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join('');
const requests = options.keys.map((key) =>
  Buffer.from(
    `POST /v1/chat/completions HTTP/1.1\r\nHost: ${hostname}:${port}\r\nContent-Type: application/json\r\n` +
      `Authorization: Bearer ${key}\r\n${more}Content-Length: ${Buffer.byteLength(options.body)}\r\n\r\n${options.body}`,
  ),
);
const latencies: number[] = [];
let errors = 0;
let turn = 0;
const startedMs = performance.now();
const untilMs = startedMs + options.seconds * 1_000;

/** True once `text` holds a whole answer. */
function isComplete(text: string): boolean {
  const head = text.indexOf('\r\n\r\n');
  if (head < 0) return false;
  const length = /\r\ncontent-length: *(\d+)/i.exec(text.slice(0, head));
  if (length) return text.length >= head + 4 + Number(length[1]);
  return text.endsWith('\r\n0\r\n\r\n');
}

function open(): Promise<void> {
  return new Promise((resolve) => {
    const socket: Socket = connect({ host: hostname, port: Number(port), noDelay: true });
    let text = '';
    let sentMs = 0;
    const send = (): void => {
      if (performance.now() >= untilMs) return void socket.end();
      text = '';
      sentMs = performance.now();
      turn = (turn + 1) % requests.length;
      socket.write(requests[turn]);
    };
    // Latin-1: a character per byte, so that lengths are those of the head.
    socket.setEncoding('latin1');
    socket.on('connect', send);
    socket.on('data', (chunk: string) => {
      text += chunk;
      if (!isComplete(text)) return;
      latencies.push(performance.now() - sentMs);
      if (!/^HTTP\/1\.1 2/.test(text)) errors += 1;
      send();
    });
    socket.on('error', () => (errors += 1));
    socket.on('close', () => resolve());
  });
}

await Promise.all(Array.from({ length: options.connections }, open));
const seconds = (performance.now() - startedMs) / 1_000;
latencies.sort((a, b) => a - b);
const figures: LoadFigures = {
  requestsPerSecond: latencies.length / seconds,
  p50Ms: percentile(latencies, 0.5),
  p99Ms: percentile(latencies, 0.99),
  errors,
};
process.stdout.write(`${JSON.stringify(figures)}\n`);
