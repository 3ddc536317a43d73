import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import {
  AppliedQuery,
  SpendLimitBody,
  HeardBody,
  InternalCreditBody,
  SpendBody,
  WatermarkQuery,
  type AppliedRange,
  type BillingMode,
} from '@gateway/contracts';
import { Access } from '@gateway/platform';
import { UsageConfig } from '../usage.config.js';
import { LedgerFunds } from './ledger-funds.js';

/** The ledger for the other services, by the fleet's token. */
@Controller('internal')
@Access({ internal: true })
export class LedgerController {
  constructor(
    private readonly funds: LedgerFunds,
    private readonly config: UsageConfig,
  ) {}

  /** Reads how this service bills, which every service has to do alike. */
  @Get('billing')
  billing(): { billing: BillingMode } {
    return { billing: this.config.BILLING };
  }

  @Post('gate/:account')
  @HttpCode(204)
  async gate(@Param('account') accountId: string, @Body() { gen, scopes }: SpendLimitBody): Promise<void> {
    await this.funds.seedSpendLimit(accountId, gen, scopes);
  }

  @Post('gate/:account/due')
  @HttpCode(204)
  async due(@Param('account') accountId: string): Promise<void> {
    await this.funds.reportDue(accountId);
  }

  @Post('spend')
  @HttpCode(200)
  async spend(@Body() { scopes, account_id }: SpendBody): Promise<{ spent_usd: string[] }> {
    return { spent_usd: await this.funds.spent(scopes, account_id ?? null) };
  }

  @Get('balances/:account')
  async balance(@Param('account') accountId: string): Promise<{ balance_usd: string }> {
    return { balance_usd: await this.funds.balance(accountId) };
  }

  @Post('credits')
  @HttpCode(204)
  async credit(@Body() body: InternalCreditBody): Promise<void> {
    await this.funds.credit({
      accountId: body.account_id,
      orgId: body.org_id ?? null,
      amountUsd: body.amount_usd,
      kind: body.kind,
      source: body.source,
    });
  }

  @Post('producers/:producer')
  @HttpCode(204)
  async heard(@Param('producer') producer: string, @Body() { epoch, is_ended }: HeardBody): Promise<void> {
    await this.funds.heard(producer, epoch, is_ended);
  }

  @Get('watermarks/:producer')
  async watermark(
    @Param('producer') producer: string,
    @Query() { epoch }: WatermarkQuery,
  ): Promise<{ watermark: number }> {
    return { watermark: await this.funds.watermark(producer, epoch) };
  }

  @Get('applied/:producer')
  async applied(
    @Param('producer') producer: string,
    @Query() { epoch, above }: AppliedQuery,
  ): Promise<{ ranges: AppliedRange[] }> {
    return { ranges: await this.funds.applied(producer, epoch, above) };
  }
}
