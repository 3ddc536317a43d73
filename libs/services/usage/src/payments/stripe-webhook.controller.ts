import { Controller, HttpCode, Inject, Post, Req } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiError, type Clock } from '@gateway/contracts';
import { Access, CLOCK, LOGGER } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { UsageConfig } from '../usage.config.js';
import { Payments } from './payments.js';
import { isSigned } from './stripe-signature.js';

/**
 * Route of Stripe's reports. Whoever knows the signing secret makes money: nothing is read before the signature was.
 */
@Controller('v1/billing/webhooks')
export class StripeWebhookController {
  constructor(
    private readonly config: UsageConfig,
    private readonly payments: Payments,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Returns 2xx once the report is in the ledger: until then Stripe sends it again. */
  @Post('stripe')
  @HttpCode(200)
  @Access({ public: true })
  @RouteConfig({ keepsBytes: true })
  async receive(@Req() request: FastifyRequest): Promise<{ received: true }> {
    const { STRIPE_WEBHOOK_SECRET: secret } = this.config;
    const { bodyBytes, headers } = request;
    if (secret === undefined)
      throw new ApiError('feature_not_enabled', { message: 'Payments are not enabled.' });
    const header = headers['stripe-signature'];
    if (bodyBytes === null || !isSigned(bodyBytes, header, { secret, now: this.clock.now() }))
      throw new ApiError('bad_request', { message: 'The signature does not match.' });
    try {
      await this.payments.report(request.body);
    } catch (failure) {
      if (!(failure instanceof TypeError)) throw failure;
      // Of another shape than was asked for: sent again it would be the same.
      this.logger.error({ err: failure }, 'a report of the payment provider cannot be read');
      throw new ApiError('unprocessable_entity', { message: 'The event cannot be read.' });
    }
    return { received: true };
  }
}
