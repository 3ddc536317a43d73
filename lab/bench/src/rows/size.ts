import { Pool } from 'undici';
import { EXACT, figureOf, row, verdictOf, type Figure, type Row } from '../figures.js';
import type { Lab, Target } from '../lab.js';
import type { LoadFigures } from '../load.js';
import { costOn, plainBodyOf, warmUp, type Cost } from '../loads.js';
import { makeKeys } from '../many-keys.js';

const ACCOUNTS = 1_000;
/** Least ratio to one key's requests/s in the same run, by the number of keys. */
const RATIO_MIN: Readonly<Partial<Record<number, number>>> = { 5_000: 0.75, 100_000: 0.6 };
/** Keys whose first use is a row of its own. */
const FIRST_USES = 10_000;
const CONNECTIONS = 16;
const FIRST_USE_MS = 30_000;

type Round = LoadFigures & Cost;

/** The same load over one key and over ever more keys of many accounts, in turn: what is kept per key must not cost. */
export async function sizeRows(lab: Lab): Promise<Row[]> {
  const { gateway, fleet, options } = lab;
  const rows: Row[] = [];
  await warmUp(lab, gateway, plainBodyOf(gateway));
  for (const count of new Set([...options.keys, FIRST_USES])) {
    const keys = await makeKeys(fleet, count, Math.min(ACCOUNTS, count));
    const first = await useEachOnce(gateway, keys);
    if (count === FIRST_USES) rows.push(firstUseRow(first));
    if (options.keys.includes(count)) rows.push(await rowOf(lab, keys));
  }
  return rows;
}

async function rowOf(lab: Lab, keys: readonly string[]): Promise<Row> {
  const { gateway, fleet, options } = lab;
  const body = plainBodyOf(gateway);
  const one: Round[] = [];
  const many: Round[] = [];
  // Each round goes on with the keys where the last one ended, or only the first few thousand would ever be used.
  let from = 0;
  for (let round = 0; round < options.rounds; round += 1) {
    one.push(await costOn(lab, gateway, body, [fleet.key]));
    many.push(await costOn(lab, gateway, body, [...keys.slice(from), ...keys.slice(0, from)]));
    from = (from + Math.round((many.at(-1)?.requestsPerSecond ?? 0) * options.seconds)) % keys.length;
  }
  return rowOfRounds(keys.length, one, many);
}

function rowOfRounds(keys: number, one: readonly Round[], many: readonly Round[]): Row {
  const of = (rounds: readonly Round[], pick: (round: Round) => number, better: 'more' | 'less'): Figure =>
    figureOf(rounds.map(pick), better);
  const rps = of(many, ({ requestsPerSecond }) => requestsPerSecond, 'more');
  const rpsOfOne = of(one, ({ requestsPerSecond }) => requestsPerSecond, 'more').median;
  const us = (rounds: readonly Round[], pick: (cost: Cost) => number): number =>
    of(rounds, pick, 'less').median;
  const boxOfOne = us(one, ({ boxUs }) => boxUs).toFixed(0);
  const main = [one, many].map((rounds) => us(rounds, ({ mainUs }) => mainUs).toFixed(0));
  const ratioMin = RATIO_MIN[keys];
  const gate =
    ratioMin === undefined
      ? {}
      : {
          gate: `≥ ${ratioMin} of one key’s requests/s`,
          verdict: verdictOf(rps.median >= ratioMin * rpsOfOne),
        };
  const accounts = Math.min(ACCOUNTS, keys);
  return row({
    id: `size-${keys}`,
    figure: `${keys.toLocaleString('en-US')} keys of ${accounts.toLocaleString('en-US')} accounts`,
    unit: 'requests/s',
    gateway: rps,
    ratio: rps.median / rpsOfOne,
    costs: [
      {
        name: 'gateway',
        boxUs: us(many, ({ boxUs }) => boxUs),
        processUs: us(many, ({ processUs }) => processUs),
      },
    ],
    ...gate,
    note: `one key in the same turns: ${rpsOfOne.toFixed(0)} requests/s, box ${boxOfOne} µs, main thread ${main[0]} µs/request; of many: main thread ${main[1]}`,
  });
}

interface FirstUses {
  errors: number;
  seconds: number;
  /** Status and beginning of the first answer that was an error; empty where none was. */
  firstError: string;
}

/** One request with each key: the first asks the keys service and the ledger. */
async function useEachOnce({ url, ...target }: Target, keys: readonly string[]): Promise<FirstUses> {
  const pool = new Pool(url, {
    connections: CONNECTIONS,
    headersTimeout: FIRST_USE_MS,
    bodyTimeout: FIRST_USE_MS,
  });
  const body = plainBodyOf({ url, ...target });
  const startedMs = performance.now();
  const uses = { errors: 0, firstError: '' };
  let next = 0;
  const connection = async (): Promise<void> => {
    for (let at = next++; at < keys.length; at = next++) {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${keys[at]}` };
      const answer = await pool.request({ path: '/v1/chat/completions', method: 'POST', headers, body });
      const text = await answer.body.text();
      if (answer.statusCode === 200) continue;
      uses.errors += 1;
      if (uses.firstError === '') uses.firstError = `${answer.statusCode} ${text.slice(0, 200)}`;
    }
  };
  try {
    await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  } finally {
    await pool.destroy();
  }
  return { ...uses, seconds: (performance.now() - startedMs) / 1_000 };
}

function firstUseRow({ errors, seconds, firstError }: FirstUses): Row {
  const note = `${(FIRST_USES / seconds).toFixed(0)} first uses a second`;
  return row({
    id: 'first-use-errors',
    figure: `errors at the first use of ${FIRST_USES.toLocaleString('en-US')} keys of ${ACCOUNTS.toLocaleString('en-US')} accounts`,
    unit: 'answers',
    gateway: EXACT(errors),
    gate: '0',
    verdict: verdictOf(errors === 0),
    note: firstError === '' ? note : `${note}; the first error: ${firstError}`,
  });
}
