import { EXACT, row, verdictOf, type Row } from '../figures.js';
import type { Lab, Target } from '../lab.js';
import { memoryMiB } from '../proc.js';
import { faultsOf, readStreams } from '../stream-reader.js';

const GAP_MS = 100;
/** Streams are opened over this time: the figure is of holding them, not of a burst of beginnings. */
const RAMP_MS = 3_000;
const GATE = 512;

/** Many streams at once, a frame every 100 ms each; every frame of every stream is counted. */
export async function heldRows(lab: Lab): Promise<Row[]> {
  const baseline = await hold(lab, lab.baseline);
  const gateway = await hold(lab, lab.gateway);
  const { streams } = lab.options;
  return [
    row({
      id: 'streams-held',
      figure: 'streams held at once without a lost frame',
      unit: 'streams',
      baseline: EXACT(baseline.held),
      gateway: EXACT(gateway.held),
      gate: `≥ ${GATE}`,
      verdict: verdictOf(gateway.held >= GATE),
      note: [`${gateway.frames} frames`, gateway.faults].filter((text) => text !== '').join(', '),
    }),
    row({
      id: 'streams-held-memory',
      figure: `memory of the process with ${streams} streams`,
      unit: 'MiB',
      baseline: EXACT(baseline.memory),
      gateway: EXACT(gateway.memory),
      ratio: baseline.memory / gateway.memory,
    }),
  ];
}

async function hold(
  { options }: Lab,
  { url, key, streamModel: model, pid }: Target,
): Promise<{ held: number; frames: number; memory: number; faults: string }> {
  let memory = 0;
  const sampler = setInterval(() => (memory = Math.max(memory, memoryMiB(pid ?? 0))), 500);
  const frames = Math.ceil((RAMP_MS + Math.max(10, options.seconds * 2) * 1_000) / GAP_MS);
  const figures = await readStreams({
    url,
    key,
    model,
    connections: options.streams,
    frames,
    gapMs: GAP_MS,
    seconds: 0,
    rampMs: RAMP_MS,
  });
  clearInterval(sampler);
  const faults = faultsOf(figures);
  return { held: faults === '' ? figures.streams : 0, frames: figures.frames, memory, faults };
}
