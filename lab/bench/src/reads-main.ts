// `npm run bench:reads -- [--events 10000000] [--accounts 20] [--days 90] [--per-second 1000] [--reads 40] [--seconds 20]
//   [--only id,id] [--export 1000000] [--data FOLDER] [--markdown FILE]`
import 'reflect-metadata';
import { writeFileSync } from 'node:fs';
import { readFlags } from '@gateway/platform/flags';
import type { Row } from './figures.js';
import type { ReadsLab } from './reads/lab.js';
import type { Question } from './reads/questions.js';
import type { ReadFigures } from './reads/reader.js';

const GATE_MS = 500;
const BESIDE = 'events-plain';
/** Largest slowdown of a read while another account is read without a pause. */
const BESIDE_TIMES = 2;

const USAGE = `usage: npm run bench:reads -- [--events 10000000] [--accounts 20] [--days 90] [--per-second 1000] [--reads 40]
                              [--seconds 20] [--only id,id] [--export 1000000] [--data FOLDER] [--markdown FILE]`;

const { values } = readFlags(USAGE, {
  events: { type: 'string', default: '10000000' },
  accounts: { type: 'string', default: '20' },
  days: { type: 'string', default: '90' },
  'per-second': { type: 'string', default: '1000' },
  reads: { type: 'string', default: '40' },
  seconds: { type: 'string', default: '20' },
  only: { type: 'string' },
  export: { type: 'string', default: '1000000' },
  data: { type: 'string' },
  markdown: { type: 'string' },
});

// After the flags: what it loads takes most of a second.
const { EXACT, row, verdictOf } = await import('./figures.js');
const { measureExport } = await import('./reads/csv.js');
const { openReadsLab } = await import('./reads/lab.js');
const { QUESTIONS } = await import('./reads/questions.js');
const { ask, figuresOf, measureReads } = await import('./reads/reader.js');
const { markdown } = await import('./table.js');
const { eventLogOf, feed, unitsFor } = await import('./usage-fleet.js');
const bounds = { reads: Number(values.reads), seconds: Number(values.seconds) };

function gated(id: string, figure: string, { count, p50, p95 }: ReadFigures): Row {
  return row({
    id: `reads-${id}`,
    figure: `${figure}: p95`,
    unit: 'ms',
    gateway: EXACT(p95),
    gate: `≤ ${GATE_MS}`,
    verdict: verdictOf(p95 <= GATE_MS),
    note: `p50 ${p50.toFixed(0)} ms, ${count} reads`,
  });
}

/** One account's page while two readers ask for the dearest reads of another without a rest. */
async function besideRow(lab: ReadsLab, alone: ReadFigures): Promise<Row> {
  const url = lab.servers['USAGE_URL'];
  const [busy, quiet] = await lab.askers();
  const page = QUESTIONS.find(({ id }) => id === BESIDE) as Question;
  const dear = QUESTIONS.filter(({ id }) => /^(summary|series)/.test(id));
  let isDone = false;
  let refused = 0;
  const readers = [0, 1].map(async (offset) => {
    for (let n = offset; !isDone; n += 1) {
      // One that is refused, because the database has no time for it, is load as well.
      await ask(url, dear[n % dear.length], busy, n).catch(() => (refused += 1));
    }
  });
  const times: number[] = [];
  try {
    for (let n = 0; n < bounds.reads * 2; n += 1) times.push(await ask(url, page, quiet, n));
  } finally {
    isDone = true;
    await Promise.all(readers);
  }
  const { p50, p95 } = figuresOf(times);
  const ratio = p50 / alone.p50;
  return row({
    id: 'reads-beside',
    figure: 'events page of one account while another is read without a rest: times slower, p50',
    unit: 'times',
    gateway: EXACT(ratio),
    gate: `≤ ${BESIDE_TIMES}`,
    verdict: verdictOf(ratio <= BESIDE_TIMES),
    note: `p50 ${p50.toFixed(0)} for ${alone.p50.toFixed(0)} ms, p95 ${p95.toFixed(0)} for ${alone.p95.toFixed(0)} ms; ${refused} of the others refused`,
  });
}

async function exportRows(lab: ReadsLab): Promise<Row[]> {
  const [asker] = await lab.askers();
  const rowsMax = Number(values.export);
  const { rows, rowsPerSecond, earlyMiB, mostMiB } = await measureExport(
    lab.servers['USAGE_URL'],
    asker,
    lab.usage.pid,
    rowsMax,
  );
  const growth = mostMiB / earlyMiB;
  return [
    row({
      id: 'reads-export',
      figure: `CSV export of ${rows.toLocaleString('en-US')} rows`,
      unit: 'rows/s',
      gateway: EXACT(rowsPerSecond),
    }),
    row({
      id: 'reads-export-memory',
      figure: 'memory of the usage service meanwhile: most, to that after a tenth',
      unit: 'times',
      gateway: EXACT(growth),
      gate: '≤ 1.3',
      verdict: verdictOf(growth <= 1.3),
      note: `${earlyMiB.toFixed(0)} to ${mostMiB.toFixed(0)} MiB`,
    }),
  ];
}

async function measure(lab: ReadsLab): Promise<Row[]> {
  const url = lab.servers['USAGE_URL'];
  const only = values.only?.split(',');
  const asked = QUESTIONS.filter(({ id }) => only === undefined || only.some((name) => id.startsWith(name)));
  const rows: Row[] = [];
  const asker = async (at: 0 | 1): Promise<Awaited<ReturnType<ReadsLab['askers']>>[0]> =>
    (await lab.askers())[at];
  for (const question of asked) {
    try {
      const figures = await measureReads(url, question, () => asker(0), bounds);
      rows.push(gated(question.id, question.figure, figures));
      const { count, p50, p95 } = figures;
      process.stderr.write(`${question.id}: p50 ${p50.toFixed(0)} p95 ${p95.toFixed(0)} ms (${count})\n`);
    } catch (failure) {
      process.stderr.write(`${String(failure)}\n`);
      rows.push(
        row({
          id: `reads-${question.id}`,
          figure: question.figure,
          unit: 'ms',
          verdict: 'miss',
          note: String(failure).slice(0, 120),
        }),
      );
    }
  }
  if (only === undefined || only.includes('beside')) {
    const page = QUESTIONS.find(({ id }) => id === BESIDE) as Question;
    rows.push(await besideRow(lab, await measureReads(url, page, () => asker(1), bounds)));
  }
  if (only === undefined || only.includes('export')) rows.push(...(await exportRows(lab)));
  return rows;
}

const lab = await openReadsLab({
  events: Number(values.events),
  accounts: Number(values.accounts),
  days: Number(values.days),
  folder: values.data ?? null,
});
const log = eventLogOf(lab.servers, 'bench-reads');
try {
  const perSecond = Number(values['per-second']);
  const units = await unitsFor(lab.places, lab.servers);
  const stop = new AbortController();
  const feeding =
    perSecond > 0 ? feed(log, units, Number.MAX_SAFE_INTEGER, perSecond, stop.signal) : Promise.resolve();
  const rows = await measure(lab);
  stop.abort();
  await feeding;
  const text = markdown(rows);
  process.stdout.write(`${units.seq} events came in meanwhile.\n\n${text}`);
  if (values.markdown !== undefined) writeFileSync(values.markdown, text);
} finally {
  await log.close();
  await lab.close();
}
