import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { EXACT, row, verdictOf, type Row } from '../figures.js';
import type { Lab, Target } from '../lab.js';
import { loadOn, plainBodyOf } from '../loads.js';
import { memoryMiB } from '../proc.js';
import type { LoadFigures } from '../load.js';
import type { StreamOrder } from '../stream-upstream.js';

const GIB = 1_024;
const BEGIN_MS = 30_000;

/**
 * Readers that ask for a stream that does not end and never read: back-pressure has to reach the upstream. Run it where the
 * kernel keeps little for a connection (see the README): by default it takes some 8 MB of each, so that a thousand readers
 * measure the kernel, which has no memory left for anybody's connections.
 */
export async function stalledRows(lab: Lab): Promise<Row[]> {
  const { options, gateway } = lab;
  const { seconds, stalledReaders } = options;
  const before = await loadOn(gateway, plainBodyOf(gateway), 10, seconds);
  const sockets: Socket[] = [];
  let memory = 0;
  const sampler = setInterval(() => (memory = Math.max(memory, memoryMiB(gateway.pid ?? 0))), 250);
  try {
    await stall(gateway, stalledReaders, sockets);
    const streaming = await untilAllStream(lab);
    const during = await loadOn(gateway, plainBodyOf(gateway), 10, seconds);
    return rowsOf({ before, during, memory, streaming, readers: stalledReaders });
  } finally {
    clearInterval(sampler);
    for (const socket of sockets) socket.destroy();
  }
}

interface Stalled {
  before: LoadFigures;
  during: LoadFigures;
  memory: number;
  /** Streams that had reached the upstream. */
  streaming: number;
  readers: number;
}

function rowsOf({ before, during, memory, streaming, readers }: Stalled): Row[] {
  const ratio = during.p99Ms / before.p99Ms;
  return [
    row({
      id: 'stalled-memory',
      figure: `memory with ${readers} stalled readers`,
      unit: 'MiB',
      gateway: EXACT(memory),
      gate: '< 1,024',
      verdict: verdictOf(memory < GIB && streaming >= readers),
    }),
    row({
      id: 'stalled-p99',
      figure: 'p99 of others beside them, 10 connections',
      unit: 'ms',
      gateway: EXACT(during.p99Ms),
      ratio: before.p99Ms / during.p99Ms,
      gate: '< 2 times that before',
      verdict: verdictOf(ratio < 2 && streaming >= readers),
      note: `${before.p99Ms.toFixed(2)} ms without them; ${streaming} streams had begun`,
    }),
  ];
}

/** Waits until each reader's stream has reached the upstream; answers how many have. */
async function untilAllStream({ streams, options }: Lab): Promise<number> {
  const untilMs = performance.now() + BEGIN_MS;
  while (streams.running() < options.stalledReaders && performance.now() < untilMs) await pause(100);
  await pause(2_000);
  return streams.running();
}

async function stall(
  { url, key, streamModel: model }: Target,
  count: number,
  sockets: Socket[],
): Promise<void> {
  const { hostname, port } = new URL(url);
  const order: StreamOrder = { stream: 0, frames: 1_000_000, gapMs: 0, filling: 8_192 };
  const messages = [{ role: 'user', content: JSON.stringify(order) }];
  const body = JSON.stringify({ model, stream: true, messages });
  const request =
    `POST /v1/chat/completions HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${key}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  for (let at = 0; at < count; at += 1) {
    const socket = connect(Number(port), hostname);
    sockets.push(socket);
    socket.on('error', () => socket.destroy());
    socket.pause();
    await new Promise<void>((resolve) => socket.write(request, () => resolve()));
  }
}
