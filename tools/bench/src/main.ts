import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startFleet } from './fleet.js';
import { startNginx } from './nginx.js';
import { memoryMiB, processorSeconds, start, type Started } from './processes.js';
import { stream } from './streams.js';
import { markdown, type Row } from './table.js';
import { hasWrk, load, type LoadFigures } from './wrk.js';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '8' },
    rounds: { type: 'string', default: '3' },
    json: { type: 'boolean', default: false },
  },
});
const SECONDS = Number(values.seconds);
const ROUNDS = Number(values.rounds);
const WARM_UP_SECONDS = 4;
const MODEL = 'simulator/chat';

/** A request of about 1 KB. */
const BODY = JSON.stringify({
  model: MODEL,
  messages: [{ role: 'user', content: 'All good things come in small packages. '.repeat(24) }],
});

interface Target {
  name: 'baseline' | 'gateway';
  url: string;
  key: string;
  pid: number;
}

function median(numbers: number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

interface Measured {
  plain: LoadFigures[];
  few: LoadFigures[];
  cpuUs: number[];
  memory: number;
}

/** Rounds in turn, so that a machine that slows down slows both. */
async function measurePlain(targets: Target[]): Promise<Map<string, Measured>> {
  const measured = new Map<string, Measured>(
    targets.map(({ name }) => [name, { plain: [], few: [], cpuUs: [], memory: 0 }]),
  );
  for (const { url, key } of targets)
    await load({ url, key, body: BODY, connections: 16, seconds: WARM_UP_SECONDS });
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { name, url, key, pid } of targets) {
      const of = measured.get(name);
      if (!of) continue;
      const before = processorSeconds(pid);
      const figures = await load({ url, key, body: BODY, connections: 16, seconds: SECONDS });
      of.cpuUs.push(((processorSeconds(pid) - before) / (figures.requestsPerSecond * SECONDS)) * 1e6);
      of.plain.push(figures);
      of.few.push(await load({ url, key, body: BODY, connections: 10, seconds: SECONDS }));
      of.memory = Math.max(of.memory, memoryMiB(pid));
    }
  }
  return measured;
}

function plainRows(measured: Map<string, Measured>): Row[] {
  const [baseline, gateway] = [measured.get('baseline'), measured.get('gateway')];
  if (!baseline || !gateway) throw new Error('nothing was measured');
  const of = (pick: (measured: Measured) => number[]): { baseline: number; gateway: number } => ({
    baseline: median(pick(baseline)),
    gateway: median(pick(gateway)),
  });
  const errors = [...gateway.plain, ...gateway.few, ...baseline.plain, ...baseline.few].reduce(
    (sum, figures) => sum + figures.errors,
    0,
  );
  if (errors > 0)
    process.stderr.write(`${errors} answers were errors: the figures below are worth nothing\n`);
  return [
    {
      figure: 'plain chat 1 KB, 16 connections',
      unit: 'requests/s',
      ...of(({ plain }) => plain.map((figures) => figures.requestsPerSecond)),
      gate: '>= 8,000; ratio >= 0.45',
    },
    {
      figure: 'worst round of it',
      unit: 'requests/s',
      baseline: Math.min(...baseline.plain.map((figures) => figures.requestsPerSecond)),
      gateway: Math.min(...gateway.plain.map((figures) => figures.requestsPerSecond)),
      gate: '',
    },
    {
      figure: 'processor time of the process',
      unit: 'µs/request',
      ...of(({ cpuUs }) => cpuUs),
      gate: 'ratio <= 1.54 (0.65 of the baseline’s speed)',
    },
    {
      figure: 'p50, 10 connections',
      unit: 'ms',
      ...of(({ few }) => few.map((figures) => figures.p50Ms)),
      gate: '<= 1.2',
    },
    {
      figure: 'p99, 10 connections',
      unit: 'ms',
      ...of(({ few }) => few.map((figures) => figures.p99Ms)),
      gate: '<= 6.3',
    },
    {
      figure: 'memory of the process',
      unit: 'MiB',
      baseline: baseline.memory,
      gateway: gateway.memory,
      gate: '<= 200',
    },
  ];
}

async function streamRows(targets: Target[]): Promise<Row[]> {
  const figures = new Map<string, Awaited<ReturnType<typeof stream>>>();
  for (const { name, url, key } of targets) {
    await stream({ url, key, model: MODEL, connections: 10, seconds: 2 });
    figures.set(name, await stream({ url, key, model: MODEL, connections: 10, seconds: SECONDS }));
  }
  const [baseline, gateway] = [figures.get('baseline'), figures.get('gateway')];
  if (!baseline || !gateway) throw new Error('nothing was measured');
  if (baseline.broken + gateway.broken > 0)
    process.stderr.write(
      `${gateway.broken} streams of the gateway and ${baseline.broken} of the baseline had no end\n`,
    );
  return [
    {
      figure: 'time to first token p50, 10 connections',
      unit: 'ms',
      baseline: baseline.firstByteP50Ms,
      gateway: gateway.firstByteP50Ms,
      gate: '<= 1.0',
    },
    {
      figure: 'time to first token p99',
      unit: 'ms',
      baseline: baseline.firstByteP99Ms,
      gateway: gateway.firstByteP99Ms,
      gate: '',
    },
    {
      figure: 'streams finished',
      unit: 'streams/s',
      baseline: baseline.streams / SECONDS,
      gateway: gateway.streams / SECONDS,
      gate: '',
    },
  ];
}

/** The baseline and the whole fleet, both before the same upstream. */
async function withTargets<T>(upstreamUrl: string, work: (targets: Target[]) => Promise<T>): Promise<T> {
  const baseline = await start({
    args: ['dist/tools/bench/src/baseline.js', '--upstream', upstreamUrl],
    readyWhen: /"url":"([^"]+)"/,
  });
  try {
    const fleet = await startFleet(upstreamUrl);
    try {
      return await work([
        { name: 'baseline', url: baseline.ready[1], key: 'none', pid: baseline.pid },
        { name: 'gateway', url: fleet.url, key: fleet.key, pid: fleet.edgePid },
      ]);
    } finally {
      await fleet.stop();
    }
  } finally {
    await baseline.stop();
  }
}

async function main(): Promise<void> {
  if (!hasWrk()) throw new Error('wrk makes the load: apt-get install wrk');
  const native = await startNginx();
  const simulator: Started = await start({
    args: ['dist/tools/upstream-sim/src/main.js', '--port', '0', '--fast'],
    readyWhen: /(http:\/\/127\.0\.0\.1:\d+)/,
  });
  if (!native)
    process.stderr.write(
      'nginx is not installed: the simulator stands in for a native upstream and takes part of the processor\n',
    );
  try {
    const plain = await withTargets(native?.url ?? simulator.ready[1], async (targets) =>
      plainRows(await measurePlain(targets)),
    );
    await pause(500);
    const streamed = await withTargets(simulator.ready[1], streamRows);
    const rows = [...plain, ...streamed];
    process.stdout.write(values.json ? `${JSON.stringify(rows)}\n` : markdown(rows));
  } finally {
    await simulator.stop();
    native?.close();
  }
}

await main();
