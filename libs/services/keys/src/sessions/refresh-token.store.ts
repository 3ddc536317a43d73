import { createHash, createHmac } from 'node:crypto';
import type { Random } from '@gateway/contracts';
import type { Tx } from '../postgres/keys-database.js';

const BYTES = 32;
/** A used token still answers its successor for this long: two tabs, a reload in mid-refresh. */
const SUCCESSOR_MS = 30_000;
/** Refreshes of one family within that time that are followed. */
const SUCCESSORS_MAX = 64;

/** Returns the stored form, a SHA-256: 256 random bits need no slower hash. */
export function refreshDigest(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** The first token of a family. */
export async function firstRefreshToken(
  tx: Tx,
  sessionId: string,
  random: Random,
  now: Date,
): Promise<string> {
  const token = Buffer.from(random.bytes(BYTES)).toString('base64url');
  await add(tx, sessionId, token, now);
  return token;
}

export type Spent =
  | { outcome: 'next'; sessionId: string; token: string }
  /** It was used a while ago: whoever holds it may have stolen it. */
  | { outcome: 'reused'; sessionId: string }
  | { outcome: 'unknown' };

/**
 * Spends a token by one conditional UPDATE and answers the next of its family. Each is derived from the one before with a
 * secret of the service. So a used token can answer its successor again, though no token is stored.
 */
export async function spendRefreshToken(
  tx: Tx,
  token: string,
  peppers: readonly { key: Uint8Array }[],
  now: Date,
): Promise<Spent> {
  const digest = refreshDigest(token);
  const { count } = await tx.refreshToken.updateMany({
    where: { digest, used_at: null },
    data: { used_at: now },
  });
  const row = await tx.refreshToken.findUnique({ where: { digest } });
  if (row === null) return { outcome: 'unknown' };
  const sessionId = row.session_id;
  if (count === 1) {
    const next = successor(token, peppers[0].key);
    await add(tx, sessionId, next, now);
    return { outcome: 'next', sessionId, token: next };
  }
  const isRecent = row.used_at !== null && now.getTime() - row.used_at.getTime() <= SUCCESSOR_MS;
  const newest = isRecent ? await newestOf(tx, token, peppers) : null;
  return newest === null ? { outcome: 'reused', sessionId } : { outcome: 'next', sessionId, token: newest };
}

/** The unused end of the chain that begins with this token: another tab may have gone on by more than one. */
async function newestOf(
  tx: Tx,
  used: string,
  peppers: readonly { key: Uint8Array }[],
): Promise<string | null> {
  let token = used;
  for (let n = 0; n < SUCCESSORS_MAX; n += 1) {
    const candidates = new Map(
      peppers.map(({ key }) => successor(token, key)).map((next) => [refreshDigest(next), next]),
    );
    const row = await tx.refreshToken.findFirst({ where: { digest: { in: [...candidates.keys()] } } });
    const next = row === null ? undefined : candidates.get(row.digest);
    if (row === null || next === undefined) return null;
    if (row.used_at === null) return next;
    token = next;
  }
  return null;
}

function successor(token: string, pepper: Uint8Array): string {
  return createHmac('sha256', pepper).update(`refresh/${token}`).digest('base64url');
}

async function add(tx: Tx, sessionId: string, token: string, now: Date): Promise<void> {
  await tx.refreshToken.create({
    data: { digest: refreshDigest(token), session_id: sessionId, created_at: now },
  });
}
