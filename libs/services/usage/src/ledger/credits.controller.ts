import { createHash } from 'node:crypto';
import { Body, Controller, Inject, Post, Req, Res } from '@nestjs/common';
import {
  ApiError,
  CreditBody,
  HEADER,
  newId,
  type Clock,
  type CreditRecord,
  type Random,
  type SessionPrincipal,
} from '@gateway/contracts';
import { auditRow, IdempotencyTable } from '@gateway/database';
import { Access, CLOCK, RANDOM, sessionOf, idempotent, type Created } from '@gateway/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AccountDirectory } from './account-directory.js';
import { LedgerFunds } from './ledger-funds.js';

@Controller('v1/admin')
export class CreditsController {
  constructor(
    private readonly funds: LedgerFunds,
    private readonly directory: AccountDirectory,
    private readonly idempotency: IdempotencyTable,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  /** Gives credit to an account. */
  @Post('credits')
  @Access({ superAdmin: true })
  async credit(
    @Body() body: CreditBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<CreditRecord> {
    const { clock, idempotency: store } = this;
    const answer = await idempotent({ store, clock, waits: true }, request, () => this.grant(body, request));
    void reply.status(answer.status);
    return answer.body;
  }

  private async grant(body: CreditBody, request: FastifyRequest): Promise<Created<CreditRecord>> {
    const payee = await this.directory.payee(body, sessionOf(request));
    const audit = auditRow(
      request,
      {
        action: 'balance.credit',
        targetType: 'account',
        targetId: payee.accountId,
        orgId: payee.orgId,
        changedFields: ['amount_usd', 'reason'],
      },
      { clock: this.clock, random: this.random },
    );
    const source = this.sourceOf(request, sessionOf(request));
    const { accountId, orgId } = payee;
    const credited = await this.funds.creditOnce(
      { accountId, orgId, amountUsd: body.amount_usd, kind: 'admin_grant', source, reason: body.reason },
      audit,
    );
    if (!credited.isNew)
      throw new ApiError('conflict', { message: 'A credit was already given with this Idempotency-Key.' });
    const record: CreditRecord = {
      id: `txn_${credited.transferId}`,
      account_id: accountId,
      org_id: orgId,
      amount_usd: body.amount_usd,
      balance_after: credited.balanceAfter.toString(),
      reason: body.reason,
      created_at: audit.created_at.toISOString(),
    };
    return { status: 201, body: record };
  }

  /**
   * Returns the source of a credit: with an Idempotency-Key the ledger itself refuses a second one, also after a crash
   * in between.
   */
  private sourceOf(request: FastifyRequest, { userId }: SessionPrincipal): string {
    const key = request.headers[HEADER.idempotencyKey.toLowerCase()];
    if (typeof key !== 'string') return newId('txn', this.clock, this.random);
    return `${userId}:${createHash('sha256').update(key).digest('hex')}`;
  }
}
