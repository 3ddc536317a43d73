import { eventually } from '@gateway/testing';
import type { Client } from 'pg';
import { pico } from './requests.js';

/** An event of a key, as the ledger has it. */
export interface KeyEvent {
  request_id: string;
  status: string;
  error_code: string | null;
  cost: string | null;
}

export async function eventsOf(database: Client, keyId: string): Promise<KeyEvent[]> {
  const { rows } = await database.query<KeyEvent>(
    'select request_id, status, error_code, cost::text from usage.usage_event where key_id = $1',
    [keyId],
  );
  return rows;
}

/**
 * Waits for the events of these requests: each has come once, no other that counts has, and the key's spend is their sum.
 * `counts` leaves out events of requests that were sent again.
 */
export async function expectEvents(
  database: Client,
  keyId: string,
  requestIds: readonly string[],
  counts: (event: KeyEvent) => boolean = () => true,
): Promise<KeyEvent[]> {
  const found = async (): Promise<KeyEvent[]> => (await eventsOf(database, keyId)).filter(counts);
  await eventually(async () => (await found()).length >= requestIds.length, { timeoutMs: 60_000 });
  const events = await found();
  expect(events.map(({ request_id }) => request_id).toSorted()).toEqual(requestIds.toSorted());
  const { rows } = await database.query<{ amount: string }>(
    "select amount::text from usage.spend_total where scope = 'key' and scope_id = $1",
    [keyId],
  );
  const cost = events.reduce((sum, event) => sum + pico(event.cost ?? '0'), 0n);
  expect(pico(rows.at(0)?.amount ?? '0')).toBe(cost);
  return events;
}
