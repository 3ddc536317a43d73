import { EXACT, figureOf, percentile, row, verdictOf, type Row } from '../figures.js';
import type { Lab, Target } from '../lab.js';
import { faultsOf, readStreams, type StreamFigures, type StreamLoad } from '../stream-reader.js';

type Shape = Pick<StreamLoad, 'connections' | 'frames' | 'gapMs' | 'seconds'>;

const WARM_UP: Shape = { connections: 10, frames: 20, gapMs: 0, seconds: 2 };
const WARM_UP_STABLE = 0.05;

function read(target: Target, shape: Shape): Promise<StreamFigures> {
  const { url, key, streamModel: model } = target;
  return readStreams({ url, key, model, ...shape });
}

/** Streams as fast as they go until their number stands: a paced load leaves the code uncompiled for long. */
async function warmUpStreams({ targets, options }: Lab): Promise<void> {
  for (const target of targets) {
    let before = 0;
    for (let warmed = 0; warmed < options.warmUpSeconds; warmed += WARM_UP.seconds) {
      const { streams, ...rest } = await read(target, WARM_UP);
      const faults = faultsOf({ streams, ...rest });
      if (faults !== '') throw new Error(`${target.name}: ${faults} while warming up`);
      if (warmed >= 4 && Math.abs(streams - before) <= streams * WARM_UP_STABLE) break;
      before = streams;
    }
  }
}

/** The same paced streams on every program in turn. */
async function measure(lab: Lab, shape: Shape): Promise<Map<string, StreamFigures[]>> {
  await warmUpStreams(lab);
  const measured = new Map<string, StreamFigures[]>(lab.targets.map(({ name }) => [name, []]));
  for (let round = 0; round < lab.options.rounds; round += 1) {
    for (const target of lab.targets) measured.get(target.name)?.push(await read(target, shape));
  }
  return measured;
}

type Sample = (figures: StreamFigures) => number;

function across(
  measured: Map<string, StreamFigures[]>,
  pick: Sample,
): Pick<Row, 'baseline' | 'peers'> & {
  baseline: { median: number; worst: number };
  gateway: { median: number; worst: number };
} {
  const figures = Object.fromEntries(
    [...measured].map(([name, rounds]) => [name, figureOf(rounds.map(pick), 'less')]),
  );
  const { baseline, gateway, ...peers } = figures;
  return { baseline, gateway, peers };
}

function allFaults(measured: Map<string, StreamFigures[]>): string {
  const faults = [...measured].flatMap(([name, rounds]) =>
    rounds.map((figures) => faultsOf(figures)).flatMap((text) => (text === '' ? [] : [`${name}: ${text}`])),
  );
  return faults.join('; ');
}

/** Ten connections, each a stream of ten frames, one every 10 ms: the box is not busy, so the delay is the proxy's own. */
export async function firstTokenRows(lab: Lab): Promise<Row[]> {
  const { seconds } = lab.options;
  const measured = await measure(lab, { connections: 10, frames: 10, gapMs: 10, seconds });
  const p50 = across(measured, ({ firstMs }) => percentile(firstMs, 0.5));
  const p99 = across(measured, ({ firstMs }) => percentile(firstMs, 0.99));
  const faults = allFaults(measured);
  return [
    row({
      id: 'first-token-p50',
      figure: 'time to first token p50, 10 connections',
      unit: 'ms',
      ...p50,
      ratio: p50.baseline.median / p50.gateway.median,
      gate: '≤ 1.0',
      verdict: verdictOf(p50.gateway.median <= 1 && faults === ''),
      note: faults,
    }),
    row({
      id: 'first-token-p99',
      figure: 'time to first token p99',
      unit: 'ms',
      ...p99,
      ratio: p99.baseline.median / p99.gateway.median,
    }),
  ];
}

/** Ten connections, a frame every 2 ms: what the reader sees between frames, and how long a frame is under way. */
export async function frameRows(lab: Lab): Promise<Row[]> {
  const { seconds } = lab.options;
  const measured = await measure(lab, { connections: 10, frames: 100, gapMs: 2, seconds });
  const gap = across(measured, ({ gapsMs }) => percentile(gapsMs, 0.99));
  const transit = across(measured, ({ transitMs }) => percentile(transitMs, 0.5));
  const transitP99 = across(measured, ({ transitMs }) => percentile(transitMs, 0.99));
  const faults = allFaults(measured);
  const frames = (measured.get('gateway') ?? []).reduce((sum, figures) => sum + figures.frames, 0);
  const bad = (measured.get('gateway') ?? []).reduce(
    (sum, { lost, reordered, foreign, broken }) => sum + lost + reordered + foreign + broken,
    0,
  );
  const spentRatio = gap.gateway.median / gap.baseline.median;
  return [
    row({
      id: 'frame-gap-p99',
      figure: 'delay between frames p99, one sent every 2 ms',
      unit: 'ms',
      ...gap,
      ratio: gap.baseline.median / gap.gateway.median,
      gate: '≤ 1.1 of the baseline’s',
      verdict: verdictOf(spentRatio <= 1.1),
    }),
    row({
      id: 'frame-transit-p50',
      figure: 'a frame’s way from upstream to reader, p50',
      unit: 'ms',
      ...transit,
      ratio: transit.baseline.median / transit.gateway.median,
    }),
    row({
      id: 'frame-transit-p99',
      figure: 'a frame’s way from upstream to reader, p99',
      unit: 'ms',
      ...transitP99,
      ratio: transitP99.baseline.median / transitP99.gateway.median,
    }),
    row({
      id: 'frames-lost',
      figure: `frames lost, doubled, out of order or of another stream, of ${frames}`,
      unit: '',
      gateway: EXACT(bad),
      gate: '0',
      verdict: verdictOf(bad === 0 && frames > 0),
      note: faults,
    }),
  ];
}
