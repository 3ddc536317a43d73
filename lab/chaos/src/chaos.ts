import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { COURSES } from './courses.js';
import { startChaosFleet, type ChaosFleet, type ChaosFleetOptions } from './fleet.js';
import { withGuard } from '@gateway/testing';
import { MemorySamples } from './memory.js';
import type { Options } from './options.js';
import { openOrganization } from './organization.js';
import { runOutage } from './outage.js';
import { markdown, reportOf, writeReport, type Report } from './report.js';
import { runSeed, untilSettled, type Run, type SeedResult } from './run-seed.js';

const OUTPUT_CHARS = 3_000;

/** Returns the exit code: 1 where something was lost. */
export async function chaos(options: Options): Promise<number> {
  const report = await withGuard(() => measured(options));
  process.stdout.write(`${markdown(report)}\n${JSON.stringify(report)}\n`);
  if (options.report !== null) writeReport(report, options.report);
  return report.failures.length === 0 ? 0 : 1;
}

async function measured(options: Options): Promise<Report> {
  const startMs = performance.now();
  const fleet = await startChaosFleet(needsOf(options));
  stopOnSignal(fleet);
  const say = (what: string): void =>
    void process.stderr.write(`${what} after ${Math.round((performance.now() - startMs) / 100) / 10} s\n`);
  say('the fleet serves');
  const memory = new MemorySamples([...fleet.processes.values()]);
  memory.begin();
  const results: SeedResult[] = [];
  const notes = fleet.pgbouncer === null ? [] : [`before PostgreSQL: ${fleet.pgbouncer}, transaction mode`];
  const reportNow = (): Report =>
    reportOf({ ...titleOf(options), again: (result) => commandOf(options, result) }, results, {
      ...{ memory: memory.figures(), notes, minutes: (performance.now() - startMs) / 60_000 },
    });
  try {
    const run: Run = { fleet, organization: await openOrganization(fleet), options, history: [] };
    const turns = options.seeds.flatMap((seed) => options.cases.map((one) => ({ seed, one })));
    for (const { seed, one } of turns) {
      const course = options.outageMs === null ? COURSES[one.name] : runOutage;
      const result = course ? await course(run, seed, notes) : await runSeed(run, seed, one);
      results.push(result);
      progress(result);
      // Of a run that is ended early, what it has shown stays.
      if (options.report !== null) writeReport(reportNow(), options.report);
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
    memory.end();
    await fleet.stop();
    if (options.logs !== null) keepOutputs(fleet, options.logs);
    say('the fleet has stopped');
  }
  const last = results.at(-1);
  last?.differences.push(...fleet.findings());
  if (options.cases.some(({ which }) => which.isSoak === true)) {
    last?.differences.push(...memory.growth());
    notes.push(`memory judged of: ${memory.judged().join(', ') || 'none, the run was too short'}`);
  }
  return reportNow();
}

function titleOf({ cases }: Options): { name: string; what: string } {
  const what = cases.map(({ which }) => which.what).join('; ');
  return { name: cases.map(({ name }) => name).join(','), what };
}

/** One fleet serves all the cases. */
function needsOf({ cases, hasCluster, pgbouncer }: Options): ChaosFleetOptions {
  return {
    hasCluster,
    pgbouncer,
    hasSmallDisk: cases.some(({ which }) => which.hasSmallDisk === true),
    hasWrongClock: cases.some(({ which }) => which.hasWrongClock === true),
    isSimulated: cases.some(({ which }) => which.isSimulated === true),
    env: Object.assign({}, ...cases.map(({ which }) => which.env ?? {})) as Record<string, string>,
    edges: Math.max(...cases.map(({ which }) => which.edges)),
    hasProxies: cases.some(({ which }) => which.hasProxies),
  };
}

function commandOf(options: Options, result: SeedResult): string {
  const { requests, rate, outageMs, hasCluster, pgbouncer } = options;
  const more = [
    rate === null ? '' : ` --rate ${rate}`,
    outageMs === null ? '' : ` --minutes ${outageMs / 60_000}`,
    hasCluster ? ' --cluster' : '',
    pgbouncer === null ? '' : ` --pgbouncer ${pgbouncer}`,
  ].join('');
  return `npm run chaos -- --case ${result.case} --seed ${result.seed} --requests ${requests}${more}`;
}

function progress(result: SeedResult): void {
  const { seed, case: name, seconds, whole, sent, settledMs, books, differences, schedule, faults } = result;
  const state = differences.length === 0 ? 'holds' : `FAILED: ${differences.join('\n  ')}`;
  process.stderr.write(
    `${name} seed ${seed}: ${seconds} s, ${schedule.join(', ')}; ${whole} of ${sent} whole, ${JSON.stringify(faults)}; ` +
      `${books.events} events, settled in ${settledMs} ms: ${state}\n`,
  );
}

function showOutputs(fleet: ChaosFleet): void {
  for (const [name, output] of Object.entries(fleet.outputs()))
    process.stderr.write(`--- ${name}\n${output.slice(-OUTPUT_CHARS)}\n`);
}

function keepOutputs(fleet: ChaosFleet, folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, output] of Object.entries(fleet.outputs()))
    writeFileSync(join(folder, `${name}.log`), output);
}

/** Nothing that was started may outlive this process. */
function stopOnSignal(fleet: ChaosFleet): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void fleet.stop().finally(() => process.exit(130)));
}
