import { Inject, Injectable } from '@nestjs/common';
import { ApiError } from '@gateway/contracts';
import { LOGGER, LoginAttempts } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { KeysDatabase } from '../postgres/keys-database.js';
import { PasswordHasher } from './password-hasher.js';
import { SessionsService, type Signed } from './sessions.service.js';

/** Begins the sessions of people who give their address and password. */
@Injectable()
export class PasswordLogin {
  constructor(
    private readonly database: KeysDatabase,
    private readonly hasher: PasswordHasher,
    private readonly attempts: LoginAttempts,
    private readonly sessions: SessionsService,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Throws ApiError `unauthorized` alike for a wrong password and an unknown address, `rate_limit_exceeded`. */
  async login(email: string, password: string, request: FastifyRequest): Promise<Signed> {
    const address = email.toLowerCase();
    this.attempts.take(request.clientIp, address);
    const user = await this.database.prisma.user.findUnique({ where: { email: address } });
    const isRight = await this.hasher.matches(password, user?.password_hash ?? null);
    if (user === null || !isRight || user.disabled_at !== null) {
      this.attempts.failed(request.clientIp, address);
      this.logger.info({ user_id: user?.id ?? null, ip: request.clientIp }, 'a login was refused');
      throw new ApiError('unauthorized', { message: 'The email address or the password is wrong.' });
    }
    this.attempts.succeeded(request.clientIp, address);
    return this.sessions.sign(
      await this.database.transaction((tx) => this.sessions.begin(tx, user, request)),
    );
  }
}
