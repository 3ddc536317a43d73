import { newId, type Clock, type Random, type UserRecord } from '@gateway/contracts';
import type { FastifyRequest } from 'fastify';
import type { Prisma } from '../generated/prisma/client.js';
import type { Tx } from '../postgres/keys-database.js';
import { firstRefreshToken } from './refresh-token.store.js';

/** A session ends by itself after this long, whatever is refreshed. */
export const SESSION_LIFE_MS = 30 * 86_400_000;
/** Live sessions of one person; a further login ends the oldest. */
export const SESSIONS_MAX = 100;
const USER_AGENT_MAX = 300;

export const USER_FIELDS = {
  id: true,
  email: true,
  name: true,
  time_zone: true,
  locale: true,
  epoch: true,
} as const;

export type SessionUser = Prisma.UserGetPayload<{ select: typeof USER_FIELDS }>;

export interface SignedIn {
  sessionId: string;
  refreshToken: string;
  user: SessionUser;
}

/** The place from which a session is used, as its owner is shown it. */
export interface Client {
  ip: string;
  userAgent: string;
}

export function clientOf(request: FastifyRequest): Client {
  return { ip: request.clientIp, userAgent: (request.headers['user-agent'] ?? '').slice(0, USER_AGENT_MAX) };
}

export async function startSession(
  tx: Tx,
  user: SessionUser,
  { ip, userAgent }: Client,
  { clock, random }: { clock: Clock; random: Random },
): Promise<SignedIn> {
  const id = newId('ses', clock, random);
  const now = new Date(clock.now());
  await endOldest(tx, user.id, now);
  const expires_at = new Date(now.getTime() + SESSION_LIFE_MS);
  await tx.session.create({
    data: { id, user_id: user.id, created_at: now, last_used_at: now, expires_at, ip, user_agent: userAgent },
  });
  return { sessionId: id, refreshToken: await firstRefreshToken(tx, id, random, now), user };
}

/** Sessions that live. */
export function liveOf(userId: string, now: Date): Prisma.SessionWhereInput {
  return { user_id: userId, ended_at: null, expires_at: { gt: now } };
}

async function endOldest(tx: Tx, userId: string, now: Date): Promise<void> {
  const kept = await tx.session.findMany({
    where: liveOf(userId, now),
    orderBy: { id: 'desc' },
    skip: SESSIONS_MAX - 1,
    take: SESSIONS_MAX,
    select: { id: true },
  });
  if (kept.length === 0) return;
  await tx.session.updateMany({ where: { id: { in: kept.map(({ id }) => id) } }, data: { ended_at: now } });
}

/** A session that lives, with its person; null where either has ended. */
export async function liveSession(tx: Tx, sessionId: string, now: Date): Promise<SessionUser | null> {
  const row = await tx.session.findFirst({
    where: { id: sessionId, ended_at: null, expires_at: { gt: now }, user: { disabled_at: null } },
    select: { user: { select: USER_FIELDS } },
  });
  return row?.user ?? null;
}

export async function noteUse(
  tx: Tx,
  sessionId: string,
  { ip, userAgent }: Client,
  now: Date,
): Promise<void> {
  await tx.session.update({
    where: { id: sessionId },
    data: { last_used_at: now, ip, user_agent: userAgent },
  });
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

export function userToWire({ id, email, name, time_zone, locale }: Omit<SessionUser, 'epoch'>): UserRecord {
  return { id, email, name, time_zone, locale };
}
