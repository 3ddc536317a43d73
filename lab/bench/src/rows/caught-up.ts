import { setTimeout as pause } from 'node:timers/promises';
import { EXACT, row, verdictOf, type Row } from '../figures.js';
import type { Lab } from '../lab.js';

const LONGEST_SECONDS = 300;
const GATE_SECONDS = 10;

/** Waits until the edge knows that the ledger has applied every record, and reports how long that took after the load. */
export async function untilLedgerHasAll({ gateway }: Pick<Lab, 'gateway'>): Promise<Row> {
  const startedMs = performance.now();
  const passed = (): number => (performance.now() - startedMs) / 1_000;
  let waiting = await recordsWaiting(gateway.url);
  const atEnd = waiting;
  while (waiting > 0 && passed() < LONGEST_SECONDS) {
    await pause(200);
    waiting = await recordsWaiting(gateway.url);
  }
  const seconds = passed();
  return row({
    id: 'ledger-caught-up',
    figure: 'ledger has every event after the load',
    unit: 's',
    gateway: EXACT(seconds),
    gate: `≤ ${GATE_SECONDS}`,
    verdict: verdictOf(waiting === 0 && seconds <= GATE_SECONDS),
    note: `${atEnd} records were under way when the load ended${waiting > 0 ? `, ${waiting} still are` : ''}`,
  });
}

/** Records of the edge's journal that the ledger has not applied. */
async function recordsWaiting(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return ['gateway_journal_backlog_records', 'gateway_journal_unapplied_records'].reduce((sum, name) => {
    const line = new RegExp(`^${name} (\\d+)$`, 'm').exec(text);
    if (!line) throw new Error(`the edge does not report ${name}`);
    return sum + Number(line[1]);
  }, 0);
}
