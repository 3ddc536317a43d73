import type { SessionRecord } from '@gateway/contracts';
import type { FastifyReply } from 'fastify';
import { refreshCookie } from './refresh-cookie.js';
import type { Signed } from './sessions.service.js';

/** The answer of every way to log in: the record, and the refresh token in the dashboard's cookie. */
export function signedAnswer({ record, refreshToken }: Signed, reply: FastifyReply): SessionRecord {
  void reply.header('set-cookie', refreshCookie(refreshToken)).header('cache-control', 'no-store');
  return record;
}
