import { Inject, Injectable } from '@nestjs/common';
import {
  ApiError,
  type Clock,
  type ErrorDetail,
  type MeRecord,
  type OwnSessionRecord,
  type SessionPrincipal,
  type UpdateMeBody,
  type UserRecord,
} from '@gateway/contracts';
import { CLOCK, isTimeZone, refuseFaults, sentFields } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import { AccountChanges, type Changed } from '../accounts/account-change.js';
import { KeysDatabase } from '../postgres/keys-database.js';
import { liveOf, SESSIONS_MAX, userToWire } from './session.store.js';

/** Reads and changes of people on themselves. */
@Injectable()
export class PeopleService {
  constructor(
    private readonly database: KeysDatabase,
    private readonly changes: AccountChanges,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async me(caller: SessionPrincipal): Promise<MeRecord> {
    const user = await this.database.prisma.user.findUniqueOrThrow({ where: { id: caller.userId } });
    const memberships = caller.memberships.map(({ orgId, role, teams }) => ({ org_id: orgId, role, teams }));
    return { user: userToWire(user), memberships, is_super_admin: caller.isSuperAdmin };
  }

  async update(caller: SessionPrincipal, body: UpdateMeBody, request: FastifyRequest): Promise<UserRecord> {
    refuseFaults('validation_error', preferenceFaults(body));
    const changedFields = sentFields(body);
    if (changedFields.length > 0) {
      await this.changes.run(request, {
        accounts: [caller.accountId],
        make: async (tx): Promise<Changed<null>> => {
          const { name, time_zone, locale } = body;
          await tx.user.update({ where: { id: caller.userId }, data: { name, time_zone, locale } });
          const target = { targetType: 'user', targetId: caller.userId, orgId: null };
          return { answer: null, audit: { action: 'user.update', ...target, changedFields } };
        },
      });
    }
    return (await this.me(caller)).user;
  }

  /** Returns the live sessions, newest first. */
  async sessions(caller: SessionPrincipal): Promise<OwnSessionRecord[]> {
    const rows = await this.database.prisma.session.findMany({
      where: liveOf(caller.userId, new Date(this.clock.now())),
      orderBy: { id: 'desc' },
      take: SESSIONS_MAX,
    });
    return rows.map((row) => ({
      id: row.id,
      created_at: row.created_at.toISOString(),
      last_used_at: (row.last_used_at ?? row.created_at).toISOString(),
      ip: row.ip,
      user_agent: row.user_agent,
      current: row.id === caller.sessionId,
    }));
  }

  /** Throws ApiError `not_found` alike for an unknown one, one of somebody else, and one that has ended. */
  async endOne(caller: SessionPrincipal, sessionId: string, request: FastifyRequest): Promise<void> {
    const count = await this.end(caller, { id: sessionId }, request);
    if (count === 0) throw new ApiError('not_found');
  }

  /** All but the one of this request. */
  async endOthers(caller: SessionPrincipal, request: FastifyRequest): Promise<void> {
    await this.end(caller, { id: { not: caller.sessionId } }, request);
  }

  private end(
    caller: SessionPrincipal,
    which: { id: string | { not: string } },
    request: FastifyRequest,
  ): Promise<number> {
    return this.changes.run(request, {
      accounts: [caller.accountId],
      make: async (tx): Promise<Changed<number>> => {
        const now = new Date(this.clock.now());
        const { count } = await tx.session.updateMany({
          where: { ...liveOf(caller.userId, now), ...which },
          data: { ended_at: now },
        });
        if (count === 0) return { answer: 0, audit: null };
        const targetId = typeof which.id === 'string' ? which.id : 'others';
        const write = { action: 'session.end', targetType: 'session', targetId, orgId: null };
        return { answer: count, audit: { ...write, changedFields: ['ended_at'] } };
      },
    });
  }
}

function preferenceFaults({ time_zone, locale }: UpdateMeBody): ErrorDetail[] {
  const isZone = time_zone == null || isTimeZone(time_zone);
  const isLocale = locale == null || isKnown(() => Intl.getCanonicalLocales(locale));
  return [
    ...(isZone
      ? []
      : [{ type: 'value_error' as const, loc: ['time_zone'], msg: 'time_zone must be an IANA name.' }]),
    ...(isLocale
      ? []
      : [{ type: 'value_error' as const, loc: ['locale'], msg: 'locale must be a BCP 47 tag.' }]),
  ];
}

/** Intl throws for what it does not know. */
function isKnown(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}
