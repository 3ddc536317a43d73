import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { figureOf, percentile, row, verdictOf, type Row } from '../figures.js';
import type { Lab, Target } from '../lab.js';
import { plainBodyOf, warmUp } from '../loads.js';
import type { StampedUpstream, StreamOrder } from '../stream-upstream.js';

const GATE_MS = 500;
const LONGEST_MS = 30_000;

/** Moments at which a caller leaves: the upstream has answered nothing yet, or frames run. */
const MOMENTS: readonly { id: string; when: string; stream: boolean; order: Partial<StreamOrder> }[] = [
  { id: 'left-first', when: 'before the first token', stream: true, order: { isSilent: true } },
  { id: 'left-middle', when: 'in mid-stream', stream: true, order: {} },
  { id: 'left-plain', when: 'before a plain answer', stream: false, order: { isSilent: true } },
];

/** Callers that leave all at once: how long until the upstream of each sees its connection closed. */
export async function leftRows(lab: Lab): Promise<Row[]> {
  const { options, gateway, streams } = lab;
  const rows: Row[] = [];
  await warmUp(lab, gateway, plainBodyOf(gateway));
  for (const { id, when, stream, order } of MOMENTS) {
    const p99: number[] = [];
    const all: number[] = [];
    for (let round = 0; round < options.rounds; round += 1) {
      const closed = await leave(gateway, streams, { count: options.leaving, stream, order });
      p99.push(percentile(closed, 0.99));
      all.push(closed[closed.length - 1]);
    }
    const figure = figureOf(p99, 'less');
    rows.push(
      row({
        ...{
          id,
          figure: `${options.leaving} callers leave at once ${when}: upstream closed, p99`,
          unit: 'ms',
        },
        gateway: figure,
        gate: `< ${GATE_MS}`,
        verdict: verdictOf(figure.worst < GATE_MS),
        note: `the last of all after at most ${Math.max(...all).toFixed(0)} ms`,
      }),
    );
  }
  return rows;
}

/** Sorted milliseconds from leaving to the upstream's end of the connection, one for each caller. */
async function leave(
  target: Target,
  upstream: StampedUpstream,
  { count, stream, order }: { count: number; stream: boolean; order: Partial<StreamOrder> },
): Promise<number[]> {
  await until(() => upstream.running() === 0, 'what ran before is over');
  const request = requestOf(target, { stream, order });
  const sockets: Socket[] = [];
  try {
    for (let at = 0; at < count; at += 1) sockets.push(await ask(target, request));
    await until(() => upstream.running() === count, `${count} requests are at the upstream`);
    // Those that stream have had a frame or two, and nothing else is under way.
    await pause(1_000);
    const closed = upstream.watchEnds();
    const leftMs = performance.now();
    for (const socket of sockets) socket.destroy();
    await until(() => closed.length === count, `${count} upstreams are closed`);
    return closed.map((ms) => ms - leftMs).sort((a, b) => a - b);
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}

function requestOf(
  { url, key, streamModel: model }: Target,
  { stream, order }: { stream: boolean; order: Partial<StreamOrder> },
): string {
  const ordered: StreamOrder = { stream: 0, frames: 1_000, gapMs: 1_000, ...order };
  const messages = [{ role: 'user', content: JSON.stringify(ordered) }];
  const body = JSON.stringify({ model, stream, messages });
  return (
    `POST /v1/chat/completions HTTP/1.1\r\nHost: ${new URL(url).hostname}\r\nAuthorization: Bearer ${key}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  );
}

async function ask({ url }: Target, request: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => socket.destroy());
  socket.resume();
  await new Promise<void>((resolve) => socket.write(request, () => resolve()));
  return socket;
}

async function until(isSo: () => boolean, what: string): Promise<void> {
  const untilMs = performance.now() + LONGEST_MS;
  while (!isSo()) {
    if (performance.now() > untilMs) throw new Error(`Not within ${LONGEST_MS} ms: ${what}.`);
    await pause(5);
  }
}
