import { setTimeout as pause } from 'node:timers/promises';
import { seededRandom } from '@gateway/testing';
import { send, type Sent } from './caller.js';
import { FaultRunner } from './faults.js';
import { runLoad } from './load.js';
import { counted, resultOf, untilSettled, type Run, type SeedResult } from './run-seed.js';
import { drawWork, expectedPico, type Work } from './work.js';

const OUTAGE_RATE = 100;
const BEFORE_S = 10;
const AFTER_S = 20;
/** All events have to be in so long after the broker is back. */
const IN_WITHIN_MS = 120_000;
/** The cap, in costs of one probe: the tenth reaches it. */
const PROBES_TO_CAP = 10n;
const PROBE_EVERY_MS = 2_000;

/**
 * B04's long form: Kafka stopped for the first half of the outage, which is longer than every lease, killed for the
 * second, while the load goes on. No caller notices, a cap holds to the request, all events are in two minutes later.
 */
export async function runOutage(run: Run, seed: number, notes: string[]): Promise<SeedResult> {
  const { fleet, organization, options, history } = run;
  const outageMs = options.outageMs ?? 0;
  const rate = options.rate ?? OUTAGE_RATE;
  const forMs = (BEFORE_S + AFTER_S) * 1_000 + outageMs;
  const requests = rate * (forMs / 1_000);
  const startMs = performance.now();
  const runner = new FaultRunner(fleet, [
    { afterRequests: BEFORE_S * rate, part: 'kafka', how: 'stop_then_kill', forMs: outageMs },
  ]);
  const over = new AbortController();
  let capped: Promise<{ sent: Sent[]; faults: string[] }> | null = null;
  const sent = await runLoad({
    ...{
      fleet,
      keys: organization.keys,
      requests,
      rate,
      tag: `outage-${seed}`,
      random: seededRandom(seed * 2 + 1),
    },
    onBegun: (count) => {
      runner.begun(count);
      // Well inside the outage, so that nothing of this key is posted before it is over.
      if (count > 2 * BEFORE_S * rate) capped ??= probeCap(run, seed, over.signal);
    },
  });
  over.abort();
  const probes = (await (capped as Promise<{ sent: Sent[]; faults: string[] }> | null)) ?? {
    sent: [],
    faults: ['no cap was probed'],
  };
  history.push(...sent, ...probes.sent);
  const failures = await runner.over();
  const loadEndMs = performance.now();
  const settled = await untilSettled(run, { timeoutMs: IN_WITHIN_MS });
  notes.push(
    `${sent.length} sent in ${Math.round(forMs / 1_000)} s of load`,
    `Kafka was away for ${outageMs / 60_000} min at ${rate} requests/s`,
    `the cap let ${probes.sent.filter(({ isWhole }) => isWhole).length} of ${probes.sent.length} probes through`,
  );
  const noticed = sent.filter(({ isWhole, work }) => !isWhole && work.ending === 'whole');
  return resultOf(run, {
    ...{ seed, case: 'B04', requests, answers: [...sent, ...probes.sent], startMs, loadEndMs, settled },
    ...runner.counts,
    schedule: [`stop, then kill kafka ${outageMs} ms`],
    differences: [
      ...failures,
      ...probes.faults,
      ...(noticed.length > 0
        ? [`callers noticed (${noticed.length}): ${JSON.stringify(counted(noticed))}`]
        : []),
    ],
  });
}

/** One request after the other on a key whose cap ten of them reach: the tenth is served, no further one ever. */
async function probeCap(
  { fleet, organization }: Run,
  seed: number,
  over: AbortSignal,
): Promise<{ sent: Sent[]; faults: string[] }> {
  const work: Work = {
    ...drawWork(0, seededRandom(seed)),
    stream: false,
    ending: 'whole',
    frames: 1,
    gapMs: 1,
  };
  const capPico = PROBES_TO_CAP * expectedPico(work);
  const key = await organization.cappedKey(`0.${capPico.toString().padStart(12, '0')}`);
  const [edge] = fleet.edges;
  const sent: Sent[] = [];
  while (!over.aborted) {
    const tag = `cap-${seed}-${sent.length}`;
    sent.push(await send(work, { url: edge.url, edge: edge.name, key: key.secret, keyId: key.id, tag }));
    await pause(PROBE_EVERY_MS, undefined, { signal: over }).catch(() => undefined);
  }
  const through = sent.filter(({ isWhole }) => isWhole).length;
  const others = sent.filter(({ isWhole, fault }) => !isWhole && fault !== 'spend_limit_exceeded');
  const faults = [
    ...(through === Number(PROBES_TO_CAP)
      ? []
      : [`a cap of ${PROBES_TO_CAP} requests let ${through} through`]),
    ...(others.length === 0 ? [] : [`a capped key was answered ${others[0].status} ${others[0].fault}`]),
  ];
  return { sent, faults };
}
