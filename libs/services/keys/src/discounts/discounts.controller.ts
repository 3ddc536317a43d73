import { Body, Controller, Param, Put, Req } from '@nestjs/common';
import {
  ApiError,
  CatalogueNames,
  Directory,
  DiscountBody,
  type AccountDiscount,
  type DiscountRecord,
} from '@gateway/contracts';
import { Access, refuseFaults } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import { Prisma } from '../generated/prisma/client.js';
import { idsOf, unknownNames, type Reference } from '../names/unknown-names.js';
import { KeysDatabase } from '../postgres/keys-database.js';
import { AccountChanges } from '../accounts/account-change.js';

/** Routes of accounts' discounts: principals carry them, so the next request has a change. */
@Controller('v1/admin/discounts')
@Access({ superAdmin: true })
export class DiscountsController {
  constructor(
    private readonly directory: Directory,
    private readonly database: KeysDatabase,
    private readonly names: CatalogueNames,
    private readonly changes: AccountChanges,
  ) {}

  /** The account by its own id, or by that of its organization or person. */
  @Put(':account')
  async put(
    @Param('account') named: string,
    @Body() body: DiscountBody,
    @Req() request: FastifyRequest,
  ): Promise<DiscountRecord> {
    const payer = await this.directory.payer(named);
    // Nobody can spend by that of an organization which was deleted.
    if (payer === null || payer.isClosed === true)
      throw new ApiError('not_found', { message: 'There is no such account.' });
    const { accountId, orgId } = payer;
    const discount = { pct: body.pct, models: body.models ?? null, providers: body.providers ?? null };
    const stored = await this.stored(accountId);
    refuseFaults(
      'unprocessable_entity',
      await unknownNames(this.names, namesOf(discount), { stored: namesOf(stored) }),
    );
    return this.changes.run(request, {
      accounts: [accountId],
      make: async (tx) => {
        const isNone = Number(body.pct) === 0;
        await tx.account.update({
          where: { id: accountId },
          data: { discount: isNone ? Prisma.DbNull : discount },
        });
        const audit = { action: 'discount.update', targetType: 'account', targetId: accountId, orgId };
        return {
          answer: { account_id: accountId, org_id: orgId, ...discount },
          audit: { ...audit, changedFields: Object.keys(body) },
        };
      },
    });
  }

  private async stored(id: string): Promise<AccountDiscount | null> {
    const row = await this.database.prisma.account.findUnique({ where: { id }, select: { discount: true } });
    return (row?.discount ?? null) as AccountDiscount | null;
  }
}

function namesOf(discount: Pick<AccountDiscount, 'models' | 'providers'> | null): Reference[] {
  const providers = (discount?.providers ?? []).map((name, at) => ({
    kind: 'providers' as const,
    name,
    loc: ['providers', at],
  }));
  return [...idsOf('models', discount?.models), ...providers];
}
