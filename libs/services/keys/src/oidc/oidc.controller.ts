import { Controller, Get, HttpCode, Inject, Req, Res } from '@nestjs/common';
import { ApiError, type AuthOptionsRecord, type Clock, type Random } from '@gateway/contracts';
import { Access, CLOCK, RANDOM, LoginAttempts } from '@gateway/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { KeysConfig } from '../keys.config.js';
import type { ServiceSecrets } from '../secrets/service-secrets.js';
import { SERVICE_SECRETS } from '../secrets/tokens.js';
import { refreshCookie } from '../sessions/refresh-cookie.js';
import { IdentityProvider } from './identity-provider.js';
import { beginCookie, begunOf, endCookie } from './oidc-cookie.js';
import { OidcLoginService } from './oidc-login.service.js';

@Controller('auth')
@Access({ public: true })
export class OidcController {
  constructor(
    private readonly provider: IdentityProvider,
    private readonly logins: OidcLoginService,
    private readonly attempts: LoginAttempts,
    private readonly config: KeysConfig,
    @Inject(SERVICE_SECRETS) private readonly secrets: Pick<ServiceSecrets, 'keks'>,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  /** Returns the ways to log in. */
  @Get('options')
  options(): AuthOptionsRecord {
    const { name } = this.provider;
    return { password: true, oidc: name === null ? null : { name }, billing: this.config.BILLING };
  }

  /** Sends the browser to the identity provider. */
  @Get('oidc/start')
  @HttpCode(302)
  async start(@Res() reply: FastifyReply): Promise<void> {
    const { url, begun } = await this.provider.begin();
    const cookie = beginCookie(begun, this.secrets.keks, this.clock.now(), this.random);
    await reply.header('set-cookie', cookie).header('cache-control', 'no-store').redirect(url.href, 302);
  }

  /** Handles the provider's return: logged in by the refresh cookie, the browser goes on to the dashboard. */
  @Get('oidc/callback')
  @HttpCode(302)
  async callback(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const begun = begunOf(request, this.secrets.keks, this.clock.now());
    void reply.header('cache-control', 'no-store').header('set-cookie', endCookie());
    if (begun === null)
      throw new ApiError('unauthorized', {
        message: 'This login was not started in this browser, or took too long: start it again.',
      });
    this.attempts.takeLink(request.clientIp);
    const vouched = await this.provider.complete(new URLSearchParams(request.url.split('?')[1]), begun);
    const { refreshToken } = await this.logins.login(vouched, request);
    await reply
      .header('set-cookie', refreshCookie(refreshToken))
      .redirect(`${this.config.KEYS_PUBLIC_URL}/dashboard/`, 302);
  }
}
