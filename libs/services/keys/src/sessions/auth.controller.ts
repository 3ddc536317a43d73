import { Body, Controller, Get, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiError, LoginBody, RefreshBody, type SessionRecord } from '@gateway/contracts';
import { Access, credentialOf } from '@gateway/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { JWK } from 'jose';
import { KeysConfig } from '../keys.config.js';
import { PasswordLogin } from './password-login.js';
import { clearedCookie, refreshTokenOf } from './refresh-cookie.js';
import { SessionsService } from './sessions.service.js';
import { signedAnswer } from './signed-answer.js';
import { SigningKeys } from './signing-keys.js';

@Controller()
export class AuthController {
  constructor(
    private readonly passwords: PasswordLogin,
    private readonly sessions: SessionsService,
    private readonly signingKeys: SigningKeys,
    private readonly config: KeysConfig,
  ) {}

  /** Logs in with an e-mail address and a password. */
  @Post('auth/login')
  @HttpCode(200)
  @Access({ public: true })
  async login(
    @Body() body: LoginBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SessionRecord> {
    return signedAnswer(await this.passwords.login(body.email, body.password, request), reply);
  }

  /** Makes a new session token of a refresh token, which is spent by it. */
  @Post('auth/refresh')
  @HttpCode(200)
  @Access({ public: true })
  async refresh(
    @Body() body: RefreshBody | undefined,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SessionRecord> {
    const token = body?.refresh_token ?? refreshTokenOf(request, this.config.KEYS_DASHBOARD_ORIGIN);
    if (token === null) throw new ApiError('unauthorized');
    return signedAnswer(await this.sessions.refresh(token, request), reply);
  }

  /** Logs out. Takes the refresh token, the cookie, or the session token itself. */
  @Post('auth/logout')
  @HttpCode(204)
  @Access({ public: true })
  async logout(
    @Body() body: RefreshBody | undefined,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    const refreshToken = body?.refresh_token ?? refreshTokenOf(request, this.config.KEYS_DASHBOARD_ORIGIN);
    const sessionToken = bearerSession(request);
    if (refreshToken !== null) await this.sessions.logout({ refreshToken }, request);
    else if (sessionToken !== null) await this.sessions.logout({ sessionToken }, request);
    else throw new ApiError('unauthorized');
    void reply.header('set-cookie', clearedCookie());
  }

  /** Lists the public keys with which session tokens are signed. */
  @Get('.well-known/jwks.json')
  @Access({ public: true })
  async jwks(@Res({ passthrough: true }) reply: FastifyReply): Promise<{ keys: JWK[] }> {
    void reply.header('cache-control', 'public, max-age=60');
    return this.signingKeys.jwks();
  }
}

function bearerSession({ headers }: FastifyRequest): string | null {
  const match = /^bearer +(\S+) *$/i.exec(headers.authorization ?? '');
  if (match === null) return null;
  const credential = credentialOf(match[1]);
  return credential.kind === 'session' ? credential.token : null;
}
