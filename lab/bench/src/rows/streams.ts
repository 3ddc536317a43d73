import { EXACT, percentile, row, verdictOf, type Row } from '../figures.js';
import type { Lab, Target } from '../lab.js';
import { costOf, type Cost } from '../loads.js';
import { faultsOf, readStreams, type StreamFigures, type StreamLoad } from '../stream-reader.js';
import { compared, costsOf, alternate, type Rounds } from '../turns.js';

type Shape = Pick<StreamLoad, 'connections' | 'frames' | 'gapMs' | 'seconds'>;

const WARM_UP: Shape = { connections: 10, frames: 20, gapMs: 0, seconds: 2 };
const WARM_UP_STABLE = 0.03;
const WARM_UP_SECONDS_MIN = 10;
/** Times the baseline's figure. */
const FIRST_TOKEN_MAX = 1.5;
const FRAME_GAP_MAX = 1.1;

function read(target: Target, shape: Shape): Promise<StreamFigures> {
  const { url, key, streamModel: model, streamHeaders: headers } = target;
  return readStreams({ url, key, model, headers, ...shape });
}

/** Streams as fast as they go until their number stands: a paced load leaves the code uncompiled for long. */
async function warmUpStreams({ options }: Lab, target: Target): Promise<void> {
  let before = 0;
  for (let warmed = 0; warmed < options.warmUpSeconds; warmed += WARM_UP.seconds) {
    const { streams, ...rest } = await read(target, WARM_UP);
    const faults = faultsOf({ streams, ...rest });
    if (faults !== '') throw new Error(`${target.name}: ${faults} while warming up`);
    if (warmed >= WARM_UP_SECONDS_MIN && Math.abs(streams - before) <= streams * WARM_UP_STABLE) break;
    before = streams;
  }
}

type Round = StreamFigures & Cost;

/** The same paced streams on every program in turn. */
function measure(lab: Lab, shape: Shape): Promise<Rounds<Round>> {
  return alternate(lab, {
    warmUp: (target) => warmUpStreams(lab, target),
    measure: (target) =>
      costOf(
        lab,
        target,
        () => read(target, shape),
        ({ streams }) => streams,
      ),
  });
}

function allFaults(measured: Rounds<Round>): string {
  const faults = [...measured].flatMap(([name, rounds]) =>
    rounds.map((figures) => faultsOf(figures)).flatMap((text) => (text === '' ? [] : [`${name}: ${text}`])),
  );
  return faults.join('; ');
}

/** Ten connections, each a stream of ten frames, one every 10 ms: the box is not busy, so the delay is the proxy's own. */
export async function firstTokenRows(lab: Lab): Promise<Row[]> {
  const { seconds } = lab.options;
  const measured = await measure(lab, { connections: 10, frames: 10, gapMs: 10, seconds });
  const p50 = compared(measured, ({ firstMs }) => percentile(firstMs, 0.5), 'less');
  const p99 = compared(measured, ({ firstMs }) => percentile(firstMs, 0.99), 'less');
  const faults = allFaults(measured);
  return [
    row({
      id: 'first-token-p50',
      figure: 'time to first token p50, 10 connections',
      unit: 'ms',
      ...p50,
      costs: costsOf(measured),
      gate: `≤ ${FIRST_TOKEN_MAX} of the baseline’s`,
      verdict: verdictOf(p50.gateway.median <= FIRST_TOKEN_MAX * p50.baseline.median && faults === ''),
      note: faults,
    }),
    row({
      id: 'first-token-p99',
      figure: 'time to first token p99',
      unit: 'ms',
      ...p99,
    }),
  ];
}

/** Ten connections, a frame every 2 ms: what the reader sees between frames, and how long a frame is under way. */
export async function frameRows(lab: Lab): Promise<Row[]> {
  const { seconds } = lab.options;
  const measured = await measure(lab, { connections: 10, frames: 100, gapMs: 2, seconds });
  const gap = compared(measured, ({ gapsMs }) => percentile(gapsMs, 0.99), 'less');
  const transit = compared(measured, ({ transitMs }) => percentile(transitMs, 0.5), 'less');
  const transitP99 = compared(measured, ({ transitMs }) => percentile(transitMs, 0.99), 'less');
  const faults = allFaults(measured);
  const frames = (measured.get('gateway') ?? []).reduce((sum, figures) => sum + figures.frames, 0);
  const bad = (measured.get('gateway') ?? []).reduce(
    (sum, { lost, reordered, foreign, broken }) => sum + lost + reordered + foreign + broken,
    0,
  );
  return [
    row({
      id: 'frame-gap-p99',
      figure: 'delay between frames p99, one sent every 2 ms',
      unit: 'ms',
      ...gap,
      costs: costsOf(measured),
      gate: `≤ ${FRAME_GAP_MAX} of the baseline’s`,
      verdict: verdictOf(gap.gateway.median <= FRAME_GAP_MAX * gap.baseline.median),
    }),
    row({
      id: 'frame-transit-p50',
      figure: 'a frame’s way from upstream to reader, p50',
      unit: 'ms',
      ...transit,
    }),
    row({
      id: 'frame-transit-p99',
      figure: 'a frame’s way from upstream to reader, p99',
      unit: 'ms',
      ...transitP99,
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
