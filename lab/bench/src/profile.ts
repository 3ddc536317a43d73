import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { costTable, type CpuProfile } from './cpu-profile.js';
import { flameGraph } from './flame-graph.js';
import { openLab } from './lab.js';
import { loadOn, plainBodyOf, warmUp } from './loads.js';
import type { Options } from './options.js';
import { root } from './processes.js';

const FOLDER = join(root, 'docs/performance');
const SAMPLE_US = 200;
const INSPECTOR = /Debugger listening on (ws:\/\/\S+)/g;

/**
 * A CPU profile of the edge's main thread under plain load, over the inspector of Node itself: the raw profile below
 * .cache, a flame graph and a table of microseconds per request by place in docs/performance.
 */
export async function profileEdge(options: Options): Promise<void> {
  // Any port, and only once it is asked for by SIGUSR1: an open inspector costs a little.
  const { lab, close } = await openLab(options, ['--inspect-port=127.0.0.1:0']);
  try {
    const { gateway, fleet } = lab;
    const body = plainBodyOf(gateway);
    await warmUp(lab, gateway, body);
    process.kill(fleet.edgePid, 'SIGUSR1');
    const inspector = await inspectorOf(() => fleet.edgeLog());
    const loaded = loadOn(gateway, body, 16, options.seconds + 2);
    await pause(1_000);
    const profile = await profileOver(inspector, options.seconds);
    const { requestsPerSecond } = await loaded;
    const requests = requestsPerSecond * options.seconds;
    write('.cache/bench/edge.cpuprofile', JSON.stringify(profile));
    write('docs/performance/edge-flame.svg', flameGraph(profile, requests));
    const table = costTable(profile, requests);
    write('docs/performance/edge-cost.md', table);
    process.stdout.write(`${table}\nflame graph: ${FOLDER}/edge-flame.svg\n`);
  } finally {
    await close();
  }
}

function write(file: string, text: string): void {
  const path = join(root, file);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
}

async function inspectorOf(log: () => string): Promise<string> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const found = [...log().matchAll(INSPECTOR)].at(-1);
    if (found) return found[1];
    await pause(50);
  }
  throw new Error('the edge opened no inspector');
}

async function profileOver(url: string, seconds: number): Promise<CpuProfile> {
  const socket = new WebSocket(url);
  await new Promise<void>((resolve, reject) => {
    socket.onopen = () => resolve();
    socket.onerror = () => reject(new Error('the inspector of the edge does not answer'));
  });
  const waiting = new Map<number, (result: unknown) => void>();
  socket.onmessage = ({ data }: { data: string }) => {
    const { id, result } = JSON.parse(data) as { id?: number; result?: unknown };
    if (id !== undefined) waiting.get(id)?.(result);
  };
  let id = 0;
  const send = (method: string, params: object = {}): Promise<unknown> =>
    new Promise((resolve) => {
      id += 1;
      waiting.set(id, resolve);
      socket.send(JSON.stringify({ id, method, params }));
    });
  await send('Profiler.enable');
  await send('Profiler.setSamplingInterval', { interval: SAMPLE_US });
  await send('Profiler.start');
  await pause(seconds * 1_000);
  const { profile } = (await send('Profiler.stop')) as { profile: CpuProfile };
  socket.close();
  return profile;
}
