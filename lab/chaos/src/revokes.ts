import { setTimeout as pause } from 'node:timers/promises';
import { counted, resultOf, untilSettled, type Run, type SeedResult } from './run-seed.js';
import { steadyLoad, type Timed } from './steady-load.js';

const ROUNDS = 20;
const BEFORE_MS = 700;
const AFTER_MS = 400;

/**
 * K04: keys are deleted one after the other while every edge serves them at full rate. What is sent after the answer to
 * the DELETE is served by nobody, and nobody gets 401.
 */
export async function runRevokes(run: Run, seed: number, notes: string[]): Promise<SeedResult> {
  const { fleet, organization, options } = run;
  const startMs = performance.now();
  const rate = options.rate ?? 50;
  const all: Timed[] = [];
  const after: Timed[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const key = await organization.limitedKey();
    const load = steadyLoad(run, key, `K04-${seed}-${round}`, rate);
    await pause(BEFORE_MS);
    await organization.revoke(key);
    const deletedMs = performance.now();
    await pause(AFTER_MS);
    const sent = await load.stop();
    all.push(...sent);
    after.push(...sent.filter(({ beganMs }) => beganMs >= deletedMs));
  }
  const loadEndMs = performance.now();
  const settled = await untilSettled(run);
  const late = after.filter(({ sent }) => sent.status === 200).length;
  const before = all.filter(({ sent }) => sent.status === 200).length - late;
  const others = all.filter(({ sent }) => ![200, 403, 503].includes(sent.status)).map(({ sent }) => sent);
  notes.push(
    `${ROUNDS} keys deleted under ${rate}/s on each of ${fleet.edges.length} edges: ${before} were served before, ` +
      `${late} of ${after.length} sent after the answer were`,
  );
  return resultOf(run, {
    ...{ seed, case: 'K04', requests: all.length, kills: 0, stops: 0, startMs, loadEndMs, settled },
    answers: all.map(({ sent }) => sent),
    schedule: [`${ROUNDS} keys deleted`],
    differences: [
      ...(late > 0 ? [`${late} requests sent after the answer to the DELETE were served`] : []),
      ...(before === 0 || after.length === 0 ? ['nothing was sent before or after a DELETE'] : []),
      ...(others.length > 0 ? [`others than 200, 403 and 503: ${JSON.stringify(counted(others))}`] : []),
    ],
  });
}
