import { Inject, Injectable } from '@nestjs/common';
import { ApiError, type Clock, type Random, type SessionRecord } from '@gateway/contracts';
import { CLOCK, LOGGER, RANDOM } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { bumpAccount } from '../accounts/account.store.js';
import { VersionStamps } from '../accounts/version-stamps.js';
import { KeysDatabase, type Tx } from '../postgres/keys-database.js';
import type { ServiceSecrets } from '../secrets/service-secrets.js';
import { SERVICE_SECRETS } from '../secrets/tokens.js';
import { refreshDigest, spendRefreshToken } from './refresh-token.store.js';
import { SessionTokens } from './session-token.js';
import {
  clientOf,
  endSession,
  liveSession,
  noteUse,
  startSession,
  userToWire,
  type SessionUser,
  type SignedIn,
} from './session.store.js';
import { auditRow } from '@gateway/database';

export interface Signed {
  record: SessionRecord;
  refreshToken: string;
}

/** A change of an account that the other services have to hear of. */
interface Bumped {
  accountId: string;
  version: number;
}

/** Begins, continues and ends sessions. Each beginning and end stands in the audit log and in the log. */
@Injectable()
export class SessionsService {
  private readonly sources: { clock: Clock; random: Random };

  constructor(
    private readonly database: KeysDatabase,
    private readonly tokens: SessionTokens,
    private readonly stamps: VersionStamps,
    @Inject(SERVICE_SECRETS) private readonly secrets: Pick<ServiceSecrets, 'peppers'>,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) random: Random,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.sources = { clock, random };
  }

  /** A new session of a person who has proven who they are, in the transaction of that proof. */
  async begin(tx: Tx, user: SessionUser, request: FastifyRequest): Promise<SignedIn> {
    const signedIn = await startSession(tx, user, clientOf(request), this.sources);
    const { sessionId } = signedIn;
    await auditSession(tx, request, { action: 'auth.login', personId: user.id, sessionId }, this.sources);
    this.logger.info({ user_id: user.id, session_id: sessionId, ip: request.clientIp }, 'logged in');
    return signedIn;
  }

  /**
   * A new session token and the next refresh token; within 30 s of its use a token answers its successor, later it ends
   * its whole session.
   */
  async refresh(token: string, request: FastifyRequest): Promise<Signed> {
    const now = new Date(this.clock.now());
    const answer = await this.database.transaction(async (tx) => {
      const spent = await spendRefreshToken(tx, token, this.secrets.peppers, now);
      if (spent.outcome === 'unknown') return null;
      const { sessionId } = spent;
      if (spent.outcome === 'reused')
        return { ended: await this.end(tx, sessionId, request, 'auth.refresh_reused') };
      const user = await liveSession(tx, sessionId, now);
      if (user === null) return null;
      await noteUse(tx, sessionId, clientOf(request), now);
      return { signedIn: { sessionId, refreshToken: spent.token, user } };
    });
    await this.publish(answer?.ended ?? null);
    if (answer?.signedIn === undefined) throw new ApiError('unauthorized');
    return this.sign(answer.signedIn);
  }

  /** Ends the session of a refresh token or of a session token; one that has ended already stays so. */
  async logout(
    presented: { refreshToken: string } | { sessionToken: string },
    request: FastifyRequest,
  ): Promise<void> {
    const sessionId =
      'sessionToken' in presented
        ? (await this.tokens.verify(presented.sessionToken)).sessionId
        : await this.sessionOf(presented.refreshToken);
    if (sessionId === null) return;
    await this.publish(
      await this.database.transaction((tx) => this.end(tx, sessionId, request, 'auth.logout')),
    );
  }

  async sign({ sessionId, refreshToken, user }: SignedIn): Promise<Signed> {
    const { token, expiresAt } = await this.tokens.issue({ userId: user.id, sessionId, epoch: user.epoch });
    const record = {
      token,
      token_type: 'Bearer' as const,
      expires_at: expiresAt.toISOString(),
      user: userToWire(user),
    };
    return { record, refreshToken };
  }

  private async sessionOf(refreshToken: string): Promise<string | null> {
    const digest = refreshDigest(refreshToken);
    const row = await this.database.prisma.refreshToken.findUnique({ where: { digest } });
    return row?.session_id ?? null;
  }

  private async end(
    tx: Tx,
    sessionId: string,
    request: FastifyRequest,
    action: 'auth.logout' | 'auth.refresh_reused',
  ): Promise<Bumped | null> {
    const ended = await endSession(tx, sessionId, new Date(this.clock.now()));
    if (ended === null) return null;
    const { userId } = ended;
    await auditSession(tx, request, { action, personId: userId, sessionId }, this.sources);
    const message = action === 'auth.logout' ? 'logged out' : 'a used refresh token came again';
    this.logger.info({ user_id: userId, session_id: sessionId, ip: request.clientIp }, message);
    const { id } = await tx.account.findUniqueOrThrow({ where: { user_id: userId }, select: { id: true } });
    return { accountId: id, version: await bumpAccount(tx, id) };
  }

  private async publish(bumped: Bumped | null): Promise<void> {
    if (bumped !== null) await this.stamps.stamp(bumped.accountId, bumped.version);
  }
}

/**
 * Writes what happened to a session into the audit log: once for each organization that the person is in, so that its
 * owners and admins find it there; once without one where there is none.
 */
async function auditSession(
  tx: Tx,
  request: FastifyRequest,
  { action, personId, sessionId }: { action: string; personId: string; sessionId: string },
  sources: { clock: Clock; random: Random },
): Promise<void> {
  const memberships = await tx.membership.findMany({
    where: { user_id: personId, removed_at: null },
    select: { org_id: true },
  });
  const orgIds = memberships.length === 0 ? [null] : memberships.map(({ org_id }) => org_id);
  const write = { action, targetType: 'session', targetId: sessionId, changedFields: [], personId };
  await tx.auditLog.createMany({
    data: orgIds.map((orgId) => auditRow(request, { ...write, orgId }, sources)),
  });
}
