import { Body, Controller, Get, HttpCode, Inject, Post, Put, Query, Req, Res } from '@nestjs/common';
import {
  AutoRechargeBody,
  BillingPageQuery,
  BillingQuery,
  CheckoutBody,
  RedeemCouponBody,
  type AutoRechargeRecord,
  type CheckoutRecord,
  type Clock,
  type LedgerEntry,
  type PaymentRecord,
  type Random,
  type RedemptionRecord,
} from '@gateway/contracts';
import { auditRow, IdempotencyTable, type AuditRow } from '@gateway/database';
import { Usd } from '@gateway/money';
import { Access, CLOCK, pageOf, RANDOM, type Page, idempotent } from '@gateway/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { BillingStore } from './billing.store.js';
import { CouponsStore } from './coupons.store.js';
import { MovedBalances } from './moved-balances.js';
import { MONEY_RULE, payerOf, type Payer } from './payer.js';
import { Payments } from './payments.js';

/** Money of an account: of an organization for its owners and admins, else of the person. */
@Controller('v1/billing')
@Access({ session: true, org: MONEY_RULE })
export class BillingController {
  constructor(
    private readonly billing: BillingStore,
    private readonly payments: Payments,
    private readonly coupons: CouponsStore,
    private readonly balances: MovedBalances,
    private readonly idempotency: IdempotencyTable,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  /** Opens a page of the payment provider where the amount is paid by card. The credit comes once it is paid. */
  @Post('checkout')
  async checkout(
    @Body() body: CheckoutBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<CheckoutRecord> {
    const { clock, idempotency: store } = this;
    const payer = payerOf(request, body.org_id);
    const answer = await idempotent({ store, clock, waits: true }, request, async () => {
      const audit = this.audit(request, payer, 'payment.checkout', ['amount_usd']);
      const opened = await this.payments.checkout(payer, Usd.parse(body.amount_usd), audit);
      return { status: 201, body: opened };
    });
    void reply.status(answer.status);
    return answer.body;
  }

  /** Lists payments by card, the newest first. */
  @Get('payments')
  async list(@Query() query: BillingPageQuery, @Req() request: FastifyRequest): Promise<Page<PaymentRecord>> {
    const { accountId } = payerOf(request, query.org_id);
    const { data, total } = await this.billing.payments(accountId, query);
    return pageOf(data, total, query);
  }

  /** Lists what changed the balance beside usage, the newest first. */
  @Get('ledger')
  async ledger(@Query() query: BillingPageQuery, @Req() request: FastifyRequest): Promise<Page<LedgerEntry>> {
    const { accountId } = payerOf(request, query.org_id);
    const { data, total } = await this.billing.ledger(accountId, query);
    return pageOf(data, total, query);
  }

  /** Reads when the card is charged by itself. */
  @Get('auto-recharge')
  readAutoRecharge(
    @Query() query: BillingQuery,
    @Req() request: FastifyRequest,
  ): Promise<AutoRechargeRecord> {
    return this.billing.autoRecharge(payerOf(request, query.org_id).accountId);
  }

  /** Sets when the card is charged by itself. */
  @Put('auto-recharge')
  async writeAutoRecharge(
    @Body() body: AutoRechargeBody,
    @Req() request: FastifyRequest,
  ): Promise<AutoRechargeRecord> {
    const payer = payerOf(request, body.org_id);
    const { org_id: _of, ...fields } = body;
    const audit = this.audit(request, payer, 'auto_recharge.update', Object.keys(fields));
    await this.billing.setAutoRecharge(payer, body, audit);
    return this.billing.autoRecharge(payer.accountId);
  }

  /** Redeems a coupon for credit. */
  @Post('coupons/redeem')
  @HttpCode(200)
  async redeem(
    @Body() body: RedeemCouponBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RedemptionRecord> {
    const { clock, idempotency: store } = this;
    const payer = payerOf(request, body.org_id);
    const answer = await idempotent({ store, clock, waits: true }, request, async () => {
      const audit = this.audit(request, payer, 'coupon.redeem', []);
      const redeemed = await this.coupons.redeem(body.code, payer, audit);
      await this.balances.moved([payer.accountId]);
      return { status: 200, body: redeemed };
    });
    void reply.status(answer.status);
    return answer.body;
  }

  private audit(request: FastifyRequest, payer: Payer, action: string, changedFields: string[]): AuditRow {
    const target = { targetType: 'account', targetId: payer.accountId, orgId: payer.orgId };
    return auditRow(
      request,
      { action, ...target, changedFields },
      { clock: this.clock, random: this.random },
    );
  }
}
