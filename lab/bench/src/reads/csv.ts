import { setTimeout as pause } from 'node:timers/promises';
import { memoryMiB } from '../proc.js';
import type { Asker } from './questions.js';

export interface ExportFigures {
  rows: number;
  rowsPerSecond: number;
  /** Resident memory of the usage service after a tenth of the rows, and the most of it from then on. */
  earlyMiB: number;
  mostMiB: number;
}

const LOOK_MS = 200;

/** Reads a CSV of at least so many rows as a browser does, and leaves at them. */
export async function measureExport(
  baseUrl: string,
  { orgId, session }: Asker,
  usagePid: number,
  rowsMax: number,
): Promise<ExportFigures> {
  const leaving = new AbortController();
  const answer = await fetch(`${baseUrl}/v1/usage/events/export?org_id=${orgId}`, {
    headers: { authorization: `Bearer ${session}` },
    signal: leaving.signal,
  });
  if (!answer.ok || answer.body === null) throw new Error(`export: ${answer.status}`);
  let rows = -1;
  let isDone = false;
  const seen: { rows: number; mib: number }[] = [];
  const look = (async () => {
    for (; !isDone; await pause(LOOK_MS)) seen.push({ rows, mib: memoryMiB(usagePid) });
  })();
  const begin = performance.now();
  for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
    for (const byte of chunk) if (byte === 10) rows += 1;
    if (rows >= rowsMax) break;
  }
  const seconds = (performance.now() - begin) / 1_000;
  isDone = true;
  leaving.abort();
  await look;
  const late = seen.filter((at) => at.rows >= rows / 10).map(({ mib }) => mib);
  return {
    rows,
    rowsPerSecond: rows / seconds,
    earlyMiB: late.at(0) ?? Number.NaN,
    mostMiB: Math.max(...late),
  };
}
