import 'reflect-metadata';
import { startChaosFleet, type ChaosFleet } from './fleet.js';
import { withGuard } from './guard.js';
import { MemorySamples } from './memory.js';
import { readOptions, type Options } from './options.js';
import { openOrganization } from './organization.js';
import { runOutage } from './outage.js';
import { markdown, reportOf, writeReport, type Report } from './report.js';
import { runSeed, untilSettled, type Run, type SeedResult } from './run-seed.js';

const OUTPUT_CHARS = 3_000;

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  const report = await withGuard(() => measured(options));
  process.stdout.write(`${markdown(report)}\n${JSON.stringify(report)}\n`);
  if (options.report !== null) writeReport(report, options.report);
  return report.failures.length === 0 ? 0 : 1;
}

async function measured(options: Options): Promise<Report> {
  const { which, caseName } = options;
  const startMs = performance.now();
  const fleet = await startChaosFleet({ edges: which.edges, hasProxies: which.hasProxies });
  stopOnSignal(fleet);
  const say = (what: string): void =>
    void process.stderr.write(`${what} after ${Math.round((performance.now() - startMs) / 100) / 10} s\n`);
  say('the fleet serves');
  const memory = new MemorySamples(fleet);
  const results: SeedResult[] = [];
  const notes: string[] = [];
  try {
    const run: Run = { fleet, organization: await openOrganization(fleet), options, history: [] };
    for (const seed of options.seeds) {
      const result = options.outageMs === null ? await runSeed(run, seed) : await runOutage(run, seed, notes);
      results.push(result);
      progress(result);
      if (result.differences.length > 0) {
        showOutputs(fleet);
        // The books of the next seed would be wrong by this one's differences.
        break;
      }
    }
    const last = results.at(-1);
    if (last !== undefined && last.differences.length === 0) {
      const { books, left } = await untilSettled(run, { isEnd: true });
      last.books = books;
      last.differences.push(...books.differences, ...left);
      say('Redis holds nothing');
    }
  } finally {
    await fleet.stop();
    say('the fleet has stopped');
  }
  const last = results.at(-1);
  last?.differences.push(...fleet.findings());
  const again = (seed: number): string =>
    `npm run chaos -- --case ${caseName} --seed ${seed} --requests ${options.requests} --rate ${options.rate}`;
  const minutes = (performance.now() - startMs) / 60_000;
  return reportOf({ name: caseName, what: which.what, again }, results, {
    ...{ memory: memory.end(), notes, minutes },
  });
}

function progress(result: SeedResult): void {
  const { seed, seconds, whole, sent, settledMs, books, differences, schedule, faults } = result;
  const state = differences.length === 0 ? 'holds' : `FAILED: ${differences.join('\n  ')}`;
  process.stderr.write(
    `seed ${seed}: ${seconds} s, ${schedule.join(', ')}; ${whole} of ${sent} whole, ${JSON.stringify(faults)}; ` +
      `${books.events} events, settled in ${settledMs} ms: ${state}\n`,
  );
}

function showOutputs(fleet: ChaosFleet): void {
  for (const [name, output] of Object.entries(fleet.outputs()))
    process.stderr.write(`--- ${name}\n${output.slice(-OUTPUT_CHARS)}\n`);
}

/** Nothing that was started may outlive this process. */
function stopOnSignal(fleet: ChaosFleet): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void fleet.stop().finally(() => process.exit(130)));
}

process.exit(
  await main().catch((failure: unknown) => {
    process.stderr.write(
      `${failure instanceof Error ? (failure.stack ?? failure.message) : String(failure)}\n`,
    );
    return 2;
  }),
);
