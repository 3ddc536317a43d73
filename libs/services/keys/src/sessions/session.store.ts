import { createHash } from 'node:crypto';
import { newId, type Clock, type Random } from '@gateway/contracts';
import type { Tx } from '../postgres/keys-database.js';

/** A session ends by itself after this long, whatever is refreshed. */
export const SESSION_LIFE_MS = 30 * 86_400_000;
const REFRESH_BYTES = 32;

export interface SignedIn {
  sessionId: string;
  refreshToken: string;
  user: { id: string; email: string; name: string; epoch: number };
}

export async function startSession(
  tx: Tx,
  user: SignedIn['user'],
  { clock, random }: { clock: Clock; random: Random },
): Promise<SignedIn> {
  const sessionId = newId('ses', clock, random);
  const now = clock.now();
  await tx.session.create({
    data: {
      id: sessionId,
      user_id: user.id,
      created_at: new Date(now),
      expires_at: new Date(now + SESSION_LIFE_MS),
    },
  });
  return { sessionId, refreshToken: await addRefreshToken(tx, sessionId, { clock, random }), user };
}

/** The next token of a family. Only its SHA-256 is stored: 256 random bits need no slower hash. */
export async function addRefreshToken(
  tx: Tx,
  sessionId: string,
  { clock, random }: { clock: Clock; random: Random },
): Promise<string> {
  const token = Buffer.from(random.bytes(REFRESH_BYTES)).toString('base64url');
  await tx.refreshToken.create({
    data: { digest: refreshDigest(token), session_id: sessionId, created_at: new Date(clock.now()) },
  });
  return token;
}

export function refreshDigest(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** Spends a token by one conditional UPDATE. `reused` = it was spent before: whoever holds it may have stolen it. */
export async function spendRefreshToken(
  tx: Tx,
  token: string,
  now: Date,
): Promise<{ outcome: 'spent' | 'reused'; sessionId: string } | { outcome: 'unknown' }> {
  const digest = refreshDigest(token);
  const { count } = await tx.refreshToken.updateMany({
    where: { digest, used_at: null },
    data: { used_at: now },
  });
  const row = await tx.refreshToken.findUnique({ where: { digest } });
  if (row === null) return { outcome: 'unknown' };
  return { outcome: count === 1 ? 'spent' : 'reused', sessionId: row.session_id };
}

/** A session that lives, with its person; null where either has ended. */
export async function liveSession(tx: Tx, sessionId: string, now: Date): Promise<SignedIn['user'] | null> {
  const row = await tx.session.findFirst({
    where: { id: sessionId, ended_at: null, expires_at: { gt: now }, user: { disabled_at: null } },
    select: { user: { select: { id: true, email: true, name: true, epoch: true } } },
  });
  return row?.user ?? null;
}

/** Ends a session once; answers whose it was, null where it had ended or is unknown. */
export async function endSession(tx: Tx, sessionId: string, now: Date): Promise<{ userId: string } | null> {
  const { count } = await tx.session.updateMany({
    where: { id: sessionId, ended_at: null },
    data: { ended_at: now },
  });
  if (count === 0) return null;
  const row = await tx.session.findUniqueOrThrow({ where: { id: sessionId }, select: { user_id: true } });
  return { userId: row.user_id };
}
