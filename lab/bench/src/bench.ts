import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname } from 'node:path';
import { writeDocs } from './docs.js';
import type { Row } from './figures.js';
import { openLab, type Lab } from './lab.js';
import { hasWrk } from './load.js';
import type { Group, Options } from './options.js';
import { root } from './processes.js';
import { profileEdge } from './profile.js';
import { admitRows } from './rows/admit.js';
import { bodyRows } from './rows/bodies.js';
import { foreignRows } from './rows/foreign.js';
import { heldRows } from './rows/held.js';
import { ingestionRows } from './rows/ingestion.js';
import { leftRows } from './rows/left.js';
import { memoryRows } from './rows/memory.js';
import { plainRows } from './rows/plain.js';
import { settleRows } from './rows/settle.js';
import { sizeRows } from './rows/size.js';
import { stalledRows } from './rows/stalled.js';
import { startRows } from './rows/start.js';
import { firstTokenRows, frameRows } from './rows/streams.js';
import { markdown } from './table.js';

type LabGroup = Exclude<Group, 'admit' | 'ingestion'>;

/**
 * Rows in the order of measuring: memory after the loads that fill caches, the readers that stall last of those that
 * load.
 */
const LAB_ROWS: Record<LabGroup, (lab: Lab) => Promise<Row[]>> = {
  plain: plainRows,
  foreign: foreignRows,
  bodies: bodyRows,
  ttft: firstTokenRows,
  frames: frameRows,
  held: heldRows,
  left: leftRows,
  settle: settleRows,
  memory: memoryRows,
  size: sizeRows,
  stalled: stalledRows,
  start: startRows,
};
const ALONE_ROWS = { admit: admitRows, ingestion: ingestionRows };

/** Every group that was asked for; one that fails is reported and does not take the others with it. */
async function measure(options: Options): Promise<{ rows: Row[]; failures: string[] }> {
  const rows: Row[] = [];
  const failures: string[] = [];
  const attempt = async (group: Group, work: () => Promise<Row[]>): Promise<void> => {
    process.stderr.write(`measuring: ${group}\n`);
    try {
      const measured = await work();
      rows.push(...measured);
      process.stderr.write(markdown(measured));
    } catch (error) {
      failures.push(`${group}: ${error instanceof Error ? error.message : String(error)}`);
      process.stderr.write(`${failures.at(-1)}\n`);
    }
  };
  const inLab = (Object.keys(LAB_ROWS) as LabGroup[]).filter((group) => options.groups.has(group));
  if (inLab.length > 0) {
    const { lab, close } = await openLab(options);
    // What a signal leaves behind would take part of the processor from the next run.
    const end = (): void => void close().finally(() => process.exit(1));
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end);
    try {
      for (const group of inLab) {
        const failed = failures.length;
        await attempt(group, () => LAB_ROWS[group](lab));
        if (failures.length > failed)
          process.stderr.write(`the edge wrote: ${lab.fleet.edgeLog().slice(-2_000)}\n`);
      }
    } finally {
      await close();
    }
  }
  for (const [group, work] of Object.entries(ALONE_ROWS)) {
    if (options.groups.has(group as Group)) await attempt(group as Group, () => work(options));
  }
  return { rows, failures };
}

/** Returns the place and the subject of the measurement. */
function setting(options: Options): Record<string, string | number> {
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  let commit = 'unknown';
  try {
    commit = `${git('rev-parse', '--short', 'HEAD')}${git('status', '--porcelain', '-uno') === '' ? '' : ' with changes'}`;
  } catch {
    // A build without its repository is measured all the same.
  }
  return {
    at: new Date().toISOString().slice(0, 16).replace('T', ' '),
    commit,
    node: process.version,
    processors: `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}`,
    rounds: options.rounds,
    seconds: options.seconds,
    load: hasWrk() ? 'wrk' : 'the bench’s own generator in Node: wrk is not installed',
  };
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** Measures what was asked for and writes it where it was asked for. */
export async function bench(options: Options): Promise<void> {
  const { rows, failures } = await measure(options);
  const run = setting(options);
  if (options.profile) await profileEdge(options);
  if (options.jsonFile !== null)
    write(options.jsonFile, `${JSON.stringify({ ...run, rows, failures }, null, 2)}\n`);
  if (options.markdownFile !== null) write(options.markdownFile, markdown(rows));
  if (options.writesDocs) writeDocs(rows, run);
  if (rows.length > 0) process.stdout.write(`${JSON.stringify(run)}\n\n${markdown(rows)}`);
  if (failures.length > 0) {
    process.stdout.write(`\nNot measured:\n${failures.map((failure) => `- ${failure}`).join('\n')}\n`);
    process.exitCode = 1;
  }
}
