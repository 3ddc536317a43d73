import type { Tx } from './notifications-database.js';

/** Kinds of rows counted before one is added, each with numbers of its own in PostgreSQL's space of locks. */
const COUNTED = { alertsOfOrg: 0x616c7274, mailsToAddress: 0x6d61696c } as const;

/** Holds the count until the end of the transaction: two creates at once would both pass with one left. */
export async function holdCount(tx: Tx, counted: keyof typeof COUNTED, of: string): Promise<void> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(${COUNTED[counted]}::int, hashtext(${of}))`;
}
