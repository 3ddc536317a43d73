import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { repository } from '@gateway/testing';
import type { SeedResult } from './run-seed.js';

export interface Report {
  case: string;
  what: string;
  date: string;
  commit: string;
  seeds: number;
  requests: number;
  sent: number;
  whole: number;
  kills: number;
  stops: number;
  events: number;
  crashed: number;
  lost: number;
  doubled: number;
  cost_usd: string;
  faults: Record<string, number>;
  settled_ms_max: number;
  minutes: number;
  memory_mib: Record<string, object>;
  notes: string[];
  failures: { seed: number; again: string; differences: string[] }[];
}

export function reportOf(
  of: { name: string; what: string; again: (result: SeedResult) => string },
  results: readonly SeedResult[],
  rest: { memory: Record<string, object>; notes: string[]; minutes: number },
): Report {
  const sum = (pick: (result: SeedResult) => number): number =>
    results.reduce((total, result) => total + pick(result), 0);
  const faults: Record<string, number> = {};
  for (const result of results)
    for (const [fault, count] of Object.entries(result.faults)) faults[fault] = (faults[fault] ?? 0) + count;
  const last = results.at(-1)?.books;
  return {
    ...{ case: of.name, what: of.what, date: new Date(Date.now()).toISOString(), commit: commit() },
    seeds: new Set(results.map(({ seed }) => seed)).size,
    requests: sum(({ requests }) => requests),
    sent: sum(({ sent }) => sent),
    whole: sum(({ whole }) => whole),
    kills: sum(({ kills }) => kills),
    stops: sum(({ stops }) => stops),
    ...{ events: last?.events ?? 0, crashed: last?.crashed ?? 0 },
    ...{ lost: last?.lost ?? 0, doubled: last?.doubled ?? 0, cost_usd: usd(last?.costPico ?? 0n) },
    faults,
    settled_ms_max: Math.max(0, ...results.map(({ settledMs }) => settledMs)),
    minutes: Math.round(rest.minutes * 10) / 10,
    memory_mib: rest.memory,
    notes: rest.notes,
    failures: results
      .filter(({ differences }) => differences.length > 0)
      .map((result) => ({ seed: result.seed, again: of.again(result), differences: result.differences })),
  };
}

export function markdown(report: Report): string {
  const faults = Object.entries(report.faults).map(([fault, count]) => `${count} ${fault}`);
  const rows: [string, string | number][] = [
    ['case', `${report.case}: ${report.what}`],
    ['date, commit', `${report.date}, ${report.commit}`],
    ['seeds', report.seeds],
    ['requests (sent, with those sent again)', `${report.requests} (${report.sent})`],
    ['SIGKILL, SIGSTOP', `${report.kills}, ${report.stops}`],
    ['answers received whole', report.whole],
    ['not whole, by reason', faults.join(', ') || 'none'],
    ['usage events, of these of died edges', `${report.events}, ${report.crashed}`],
    ['lost', report.lost],
    ['doubled', report.doubled],
    ['booked', `${report.cost_usd} USD`],
    ['books settled after at most', `${(report.settled_ms_max / 1_000).toFixed(1)} s`],
    ['seeds that failed', report.failures.length],
    ['duration', `${report.minutes} min`],
    ...report.notes.map((note): [string, string] => ['note', note]),
    ...Object.entries(report.memory_mib).map(([name, figures]): [string, string] => [
      `memory of ${name}, MiB`,
      JSON.stringify(figures),
    ]),
  ];
  const table = ['| figure | value |', '|---|---|', ...rows.map(([name, value]) => `| ${name} | ${value} |`)];
  const failures = report.failures.map(
    ({ seed, again, differences }) =>
      `\nSeed ${seed} failed; again with \`${again}\`:\n${differences.map((one) => `- ${one}`).join('\n')}`,
  );
  return `${[...table, ...failures].join('\n')}\n`;
}

export function writeReport(report: Report, file: string): void {
  writeFileSync(`${file}.json`, `${JSON.stringify(report, null, 2)}\n`);
  writeFileSync(`${file}.md`, markdown(report));
}

function usd(pico: bigint): string {
  const text = pico.toString().padStart(13, '0');
  return `${text.slice(0, -12)}.${text.slice(-12)}`;
}

/** A checkout without git is measured as well. */
function commit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], {
      cwd: repository,
      encoding: 'utf8',
    }).trim();
  } catch {
    return 'unknown';
  }
}
