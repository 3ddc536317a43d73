import { Body, Controller, Get, Inject, Post, Query, Req, Res } from '@nestjs/common';
import { BillingPageQuery, CouponBody, type Clock, type CouponRecord, type Random } from '@gateway/contracts';
import { auditRow, IdempotencyTable } from '@gateway/database';
import { Access, CLOCK, pageOf, RANDOM, sessionOf, type Page, idempotent } from '@gateway/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CouponsStore, newCouponCode } from './coupons.store.js';

@Controller('v1/admin/coupons')
@Access({ superAdmin: true })
export class CouponsController {
  constructor(
    private readonly coupons: CouponsStore,
    private readonly idempotency: IdempotencyTable,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  /** Makes a coupon; without a code it gets one that nobody guesses. */
  @Post()
  async create(
    @Body() body: CouponBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<CouponRecord> {
    const { clock, random, idempotency: store } = this;
    const answer = await idempotent({ store, clock, waits: true }, request, async () => {
      const code = body.code ?? newCouponCode(random);
      const write = { action: 'coupon.create', targetType: 'coupon', targetId: code, orgId: null };
      const audit = auditRow(request, { ...write, changedFields: Object.keys(body) }, { clock, random });
      return {
        status: 201,
        body: await this.coupons.create({ ...body, code }, sessionOf(request).userId, audit),
      };
    });
    void reply.status(answer.status);
    return answer.body;
  }

  /** Lists coupons, the newest first. */
  @Get()
  async list(@Query() query: BillingPageQuery): Promise<Page<CouponRecord>> {
    const { data, total } = await this.coupons.list(query);
    return pageOf(data, total, query);
  }
}
