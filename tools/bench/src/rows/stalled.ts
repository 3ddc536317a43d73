import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { EXACT, row, verdictOf, type Row } from '../figures.js';
import { loadOn, type Lab, type Target } from '../lab.js';
import { memoryMiB } from '../proc.js';
import type { StreamOrder } from '../stream-upstream.js';
import { plainBodyOf } from './plain.js';

const GIB = 1_024;

/** Readers that ask for a stream of 8 MB and never read: back-pressure has to reach the upstream. */
export async function stalledRows(lab: Lab): Promise<Row[]> {
  const { options, gateway } = lab;
  const { seconds, stalledReaders } = options;
  const before = await loadOn(gateway, plainBodyOf(gateway), 10, seconds);
  const sockets = await stall(gateway, stalledReaders);
  let memory = 0;
  const sampler = setInterval(() => (memory = Math.max(memory, memoryMiB(gateway.pid ?? 0))), 250);
  await pause(2_000);
  const during = await loadOn(gateway, plainBodyOf(gateway), 10, seconds);
  clearInterval(sampler);
  for (const socket of sockets) socket.destroy();
  const ratio = during.p99Ms / before.p99Ms;
  return [
    row({
      id: 'stalled-memory',
      figure: `memory with ${stalledReaders} stalled readers`,
      unit: 'MiB',
      gateway: EXACT(memory),
      gate: '< 1,024',
      verdict: verdictOf(memory < GIB),
    }),
    row({
      id: 'stalled-p99',
      figure: 'p99 of others beside them, 10 connections',
      unit: 'ms',
      gateway: EXACT(during.p99Ms),
      ratio: before.p99Ms / during.p99Ms,
      gate: '< 2 times that before',
      verdict: verdictOf(ratio < 2),
      note: `${before.p99Ms.toFixed(2)} ms without them`,
    }),
  ];
}

async function stall({ url, key, streamModel: model }: Target, count: number): Promise<Socket[]> {
  const { hostname, port } = new URL(url);
  const order: StreamOrder = { stream: 0, frames: 1_000, gapMs: 0, filling: 8_192 };
  const messages = [{ role: 'user', content: JSON.stringify(order) }];
  const body = JSON.stringify({ model, stream: true, messages });
  const request =
    `POST /v1/chat/completions HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${key}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  const sockets: Socket[] = [];
  for (let at = 0; at < count; at += 1) {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => socket.destroy());
    socket.pause();
    await new Promise<void>((resolve) => socket.write(request, () => resolve()));
    sockets.push(socket);
  }
  return sockets;
}
