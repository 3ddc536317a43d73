import { Body, Controller, Get, HttpCode, Inject, Post, Query, Req } from '@nestjs/common';
import { BillingPageQuery, CouponBody, type Clock, type CouponRecord, type Random } from '@gateway/contracts';
import { auditRow } from '@gateway/database';
import { Access, CLOCK, pageOf, RANDOM, sessionOf, type Page } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import { CouponsStore } from './coupons.store.js';

@Controller('v1/admin/coupons')
@Access({ superAdmin: true })
export class CouponsController {
  constructor(
    private readonly coupons: CouponsStore,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  /** Makes a coupon. */
  @Post()
  @HttpCode(201)
  create(@Body() body: CouponBody, @Req() request: FastifyRequest): Promise<CouponRecord> {
    const write = { action: 'coupon.create', targetType: 'coupon', targetId: body.code, orgId: null };
    const { clock, random } = this;
    const audit = auditRow(request, { ...write, changedFields: Object.keys(body) }, { clock, random });
    return this.coupons.create(body, sessionOf(request).userId, audit);
  }

  /** Lists coupons, the newest first. */
  @Get()
  async list(@Query() query: BillingPageQuery): Promise<Page<CouponRecord>> {
    const { data, total } = await this.coupons.list(query);
    return pageOf(data, total, query);
  }
}
