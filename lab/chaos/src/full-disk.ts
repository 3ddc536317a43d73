import { seededRandom } from '@gateway/testing';
import { setTimeout as pause } from 'node:timers/promises';
import { runLoad } from './load.js';
import { counted, resultOf, untilSettled, type Run, type SeedResult } from './run-seed.js';
import { fillDisk } from './small-disk.js';

const RATE = 40;
const BEFORE_MS = 8_000;
const FULL_MS = 15_000;
const AFTER_MS = 10_000;
/** Time within which the process notices, either way. */
const NOTICED_MS = 5_000;

/**
 * B08: the disk of the journal is filled to its last byte under load. Units are refused with 503 before anything is lost,
 * readiness goes off, and both come back by themselves when there is room again.
 */
export async function runFullDisk(run: Run, seed: number, notes: string[]): Promise<SeedResult> {
  const { fleet, organization, options, history } = run;
  const [{ url }] = fleet.edges;
  const startMs = performance.now();
  const rate = options.rate ?? RATE;
  const requests = (rate * (BEFORE_MS + FULL_MS + AFTER_MS)) / 1_000;
  const loading = runLoad({
    ...{ fleet, keys: organization.keys, requests, rate, tag: `B08-${seed}` },
    random: seededRandom(seed * 2 + 1),
    onBegun: () => undefined,
  });
  await pause(BEFORE_MS);
  const wasReady = await readiness(url);
  const ballast = fillDisk(fleet.journalFolder);
  const offMs = await until(async () => (await readiness(url)) === 503);
  await pause(FULL_MS);
  const fullStatus = await readiness(url);
  const alarms = await metric(url, 'gateway_journal_alarms_total', 'write_failed');
  ballast.empty();
  const onMs = await until(async () => (await readiness(url)) === 200);
  const sent = await loading;
  history.push(...sent);
  const loadEndMs = performance.now();
  const settled = await untilSettled(run);
  const refused = sent.filter(({ status, fault }) => status === 503 && fault === 'service_unavailable');
  const unexpected = sent.filter(
    (one) => !one.isWhole && one.work.ending === 'whole' && !refused.includes(one),
  );
  notes.push(
    `the disk of the journal had no byte left for ${FULL_MS / 1_000} s; readiness went off after ${seconds(offMs)} and came back ${seconds(onMs)} after there was room`,
    `${refused.length} requests were refused with 503 meanwhile; alarms of refused writes: ${alarms}`,
  );
  return resultOf(run, {
    ...{ seed, case: 'B08', requests, answers: sent, kills: 0, stops: 0, startMs, loadEndMs, settled },
    schedule: ['fill the disk of the journal'],
    differences: [
      ...(wasReady === 200 ? [] : [`the edge was not ready before: ${wasReady}`]),
      ...(offMs !== null && fullStatus === 503
        ? []
        : ['readiness did not go off, or came back while the disk was full']),
      ...(onMs === null ? ['readiness did not come back'] : []),
      ...(refused.length > 0 && alarms > 0
        ? []
        : ['no request was refused, or no alarm was raised: the disk was not full']),
      ...(unexpected.length > 0
        ? [`callers saw something else than 503: ${JSON.stringify(counted(unexpected))}`]
        : []),
    ],
  });
}

function seconds(ms: number | null): string {
  return ms === null ? 'never' : `${(ms / 1_000).toFixed(1)} s`;
}

async function readiness(url: string): Promise<number> {
  return (await fetch(`${url}/readyz`)).status;
}

/** Returns the time it took; null where it did not happen. */
async function until(isSo: () => Promise<boolean>): Promise<number | null> {
  const fromMs = performance.now();
  for (;;) {
    if (await isSo()) return performance.now() - fromMs;
    if (performance.now() - fromMs > NOTICED_MS) return null;
    await pause(50);
  }
}

async function metric(url: string, name: string, kind: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`^${name}\\{[^}]*kind="${kind}"[^}]*\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
}
