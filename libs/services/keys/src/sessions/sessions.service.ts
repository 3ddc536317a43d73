import { Inject, Injectable } from '@nestjs/common';
import {
  ApiError,
  type Clock,
  type MeRecord,
  type Random,
  type SessionPrincipal,
  type SessionRecord,
} from '@gateway/contracts';
import { CLOCK, RANDOM, unavailable } from '@gateway/platform';
import { bumpAccount } from '../accounts/account.store.js';
import { VersionStamps } from '../accounts/version-stamps.js';
import { KeysDatabase, type Tx } from '../postgres/keys-database.js';
import { LoginAttempts } from './attempts.js';
import { hashPassword, verifyPassword } from './password.js';
import { SessionTokens } from './session-token.js';
import {
  addRefreshToken,
  endSession,
  liveSession,
  refreshDigest,
  spendRefreshToken,
  startSession,
  type SignedIn,
} from './session.store.js';

/** A hash takes 19 MiB and some 30 ms of a thread: more at once would slow everything else. */
const HASHES_AT_ONCE = 4;
const HASHES_WAITING = 64;

export interface Signed {
  record: SessionRecord;
  refreshToken: string;
}

@Injectable()
export class SessionsService {
  private readonly attempts: LoginAttempts;
  private readonly sources: { clock: Clock; random: Random };
  private readonly waiting: (() => void)[] = [];
  private hashing = 0;
  /** What an unknown address is checked against, so that it takes as long as a known one. */
  private decoy: Promise<string> | null = null;

  constructor(
    private readonly database: KeysDatabase,
    private readonly tokens: SessionTokens,
    private readonly stamps: VersionStamps,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {
    this.attempts = new LoginAttempts(clock);
    this.sources = { clock, random };
  }

  /** Throws ApiError `unauthorized` alike for a wrong password and an unknown address, `rate_limit_exceeded`. */
  async login(email: string, password: string, ip: string): Promise<Signed> {
    const address = email.toLowerCase();
    this.attempts.take(ip, address);
    const user = await this.database.prisma.user.findUnique({ where: { email: address } });
    this.decoy ??= hashPassword('', this.random);
    const stored = user?.password_hash ?? (await this.decoy);
    const isRight = await this.inTurn(() => verifyPassword(password, stored));
    if (user === null || !isRight || user.disabled_at !== null) {
      this.attempts.failed(ip, address);
      throw new ApiError('unauthorized', { message: 'The email address or the password is wrong.' });
    }
    this.attempts.succeeded(ip, address);
    return this.sign(await this.database.transaction((tx) => startSession(tx, user, this.sources)));
  }

  /** A new session token and the next refresh token. One that was used before ends its whole session. */
  async refresh(token: string): Promise<Signed> {
    const now = new Date(this.clock.now());
    const answer = await this.database.transaction(async (tx) => {
      const spent = await spendRefreshToken(tx, token, now);
      if (spent.outcome === 'unknown') return null;
      if (spent.outcome === 'reused') return { ended: await this.end(tx, spent.sessionId, now) };
      const user = await liveSession(tx, spent.sessionId, now);
      if (user === null) return null;
      const refreshToken = await addRefreshToken(tx, spent.sessionId, this.sources);
      return { signedIn: { sessionId: spent.sessionId, refreshToken, user } };
    });
    if (answer?.ended != null) await this.stamps.stamp(answer.ended.accountId, answer.ended.version);
    if (answer?.signedIn === undefined) throw new ApiError('unauthorized');
    return this.sign(answer.signedIn);
  }

  /** Ends the session of a refresh token or of a session token; one that has ended already stays so. */
  async logout(presented: { refreshToken: string } | { sessionToken: string }): Promise<void> {
    const now = new Date(this.clock.now());
    const sessionId =
      'sessionToken' in presented
        ? (await this.tokens.verify(presented.sessionToken)).sessionId
        : await this.sessionOf(presented.refreshToken);
    if (sessionId === null) return;
    const ended = await this.database.transaction((tx) => this.end(tx, sessionId, now));
    if (ended !== null) await this.stamps.stamp(ended.accountId, ended.version);
  }

  async me(caller: SessionPrincipal): Promise<MeRecord> {
    const { id, email, name } = await this.database.prisma.user.findUniqueOrThrow({
      where: { id: caller.userId },
    });
    const memberships = caller.memberships.map(({ orgId, role, teams }) => ({ org_id: orgId, role, teams }));
    return { user: { id, email, name }, memberships, is_super_admin: caller.isSuperAdmin };
  }

  private async sessionOf(refreshToken: string): Promise<string | null> {
    const digest = refreshDigest(refreshToken);
    const row = await this.database.prisma.refreshToken.findUnique({ where: { digest } });
    return row?.session_id ?? null;
  }

  private async end(
    tx: Tx,
    sessionId: string,
    now: Date,
  ): Promise<{ accountId: string; version: number } | null> {
    const ended = await endSession(tx, sessionId, now);
    if (ended === null) return null;
    const { id } = await tx.account.findUniqueOrThrow({
      where: { user_id: ended.userId },
      select: { id: true },
    });
    return { accountId: id, version: await bumpAccount(tx, id) };
  }

  private async sign({ sessionId, refreshToken, user }: SignedIn): Promise<Signed> {
    const { token, expiresAt } = await this.tokens.issue({ userId: user.id, sessionId, epoch: user.epoch });
    const shown = { id: user.id, email: user.email, name: user.name };
    const record = { token, token_type: 'Bearer' as const, expires_at: expiresAt.toISOString(), user: shown };
    return { record, refreshToken };
  }

  /** Hashing is bounded, and so is the queue before it; past it callers are told to come back. */
  private async inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.hashing >= HASHES_AT_ONCE) {
      if (this.waiting.length >= HASHES_WAITING) throw unavailable(this.random);
      await new Promise<void>((turn) => this.waiting.push(turn));
    } else {
      this.hashing += 1;
    }
    try {
      return await work();
    } finally {
      // The place is handed on, so it is free only when nobody waits.
      const next = this.waiting.shift();
      if (next === undefined) this.hashing -= 1;
      else next();
    }
  }
}
