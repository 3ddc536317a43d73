import { readFlags, refuseFlags } from '@gateway/platform/flags';
import { CASES, type Case } from './cases.js';

export interface Options {
  /** Each seed goes through all of them, on one fleet. */
  cases: { name: string; which: Case }[];
  seeds: number[];
  requests: number;
  /** Requests sent per second; null: as the case says. */
  rate: number | null;
  /** The long form of B04: how long Kafka is away. */
  outageMs: number | null;
  /** A Redis Cluster of six processes instead of one Redis. */
  hasCluster: boolean;
  /** Program of the PgBouncer that stands before the database; null: none does. */
  pgbouncer: string | null;
  /** Path of the report without its ending; null: none. */
  report: string | null;
  /** Folder for what each process has written; null: shown only where a seed fails. */
  logs: string | null;
}

const USAGE = `usage: npm run chaos -- [--case <${Object.keys(CASES).join('|')}>, or several: B01,B03] [--seeds N | --seed S] [--requests R]
    [--rate PER_SECOND] [--minutes M (B04: Kafka away for so long)] [--cluster (a Redis Cluster of six)]
    [--pgbouncer PROGRAM (in transaction mode, between the services and PostgreSQL)]
    [--report FILE (writes FILE.md and FILE.json)] [--logs FOLDER]`;

const REQUESTS = 200;

/** Reads the command line. */
export function readOptions(): Options {
  const { values } = readFlags(USAGE, {
    case: { type: 'string', default: 'any' },
    seeds: { type: 'string', default: '2' },
    seed: { type: 'string' },
    requests: { type: 'string' },
    rate: { type: 'string' },
    minutes: { type: 'string' },
    cluster: { type: 'boolean', default: false },
    pgbouncer: { type: 'string' },
    report: { type: 'string' },
    logs: { type: 'string' },
  });
  const cases = values.case.split(',').map((name) => {
    const which = CASES[name];
    if (which === undefined) refuseFlags(`There is no case ${name}.`);
    return { name, which };
  });
  const isAlone = cases.some(({ which }) => which.isAlone === true);
  if (isAlone && cases.length > 1) refuseFlags(`A case with a course of its own runs alone.`);
  const rate = values.rate === undefined ? null : whole('rate', values.rate);
  const outageMs = values.minutes === undefined ? null : whole('minutes', values.minutes) * 60_000;
  if (outageMs !== null && values.case !== 'B04') refuseFlags(`--minutes is B04's.`);
  const seeds =
    values.seed === undefined
      ? Array.from({ length: whole('seeds', values.seeds) }, (_, at) => at + 1)
      : [whole('seed', values.seed)];
  return {
    cases,
    seeds: outageMs === null && !isAlone ? seeds : seeds.slice(0, 1),
    requests: whole('requests', values.requests ?? String(cases[0].which.requests ?? REQUESTS)),
    rate,
    outageMs,
    hasCluster: values.cluster,
    pgbouncer: values.pgbouncer ?? null,
    report: values.report ?? null,
    logs: values.logs ?? null,
  };
}

function whole(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) refuseFlags(`--${name} is a whole number above 0.`);
  return value;
}
