import { ConnectedLimitStore, type RedisAddress } from '@gateway/fleet';
import { SystemClock, SystemRandom } from '@gateway/platform';
import { eventually } from '@gateway/testing';
import pg from 'pg';

/** The holds of Redis for units in flight or not posted, of all accounts. */
export interface Held {
  reservedUnits: number;
  unpostedUnits: number;
  reservedNano: bigint;
  unpostedNano: bigint;
}

/** Reads it as every service does, through the limit store's own script. */
export async function readHeld(databaseUrl: string, redis: RedisAddress): Promise<Held> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 5_000 });
  await client.connect();
  const accounts = await client
    .query<{ id: string }>(`SELECT id FROM usage.account WHERE kind = 'customer'`)
    .finally(() => client.end());
  const store = new ConnectedLimitStore({
    ...{ ...redis, clientName: 'chaos', clock: new SystemClock(), random: new SystemRandom() },
  });
  const sum: Held = { reservedUnits: 0, unpostedUnits: 0, reservedNano: 0n, unpostedNano: 0n };
  try {
    for (const { id } of accounts.rows) {
      const state = await eventually(() => store.read(id, []), { timeoutMs: 5_000 });
      sum.reservedUnits += state.reservedUnits;
      sum.unpostedUnits += state.unpostedUnits;
      sum.reservedNano += state.reservedNano;
      sum.unpostedNano += state.unpostedNano;
    }
    return sum;
  } finally {
    await store.close();
  }
}
