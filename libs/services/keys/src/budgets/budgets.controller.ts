import { Controller, Get, Param, Query } from '@nestjs/common';
import { BudgetsQuery, type BudgetsRecord } from '@gateway/contracts';
import { Access } from '@gateway/platform';
import { Budgets } from './budgets.js';

@Controller('v1/orgs/:id/budgets')
@Access({ session: true, superAdmin: true, org: { param: 'id', roles: ['owner', 'admin'] } })
export class BudgetsController {
  constructor(private readonly budgets: Budgets) {}

  /** Lists every spend cap of an organization with what is spent of it, the most used first. */
  @Get()
  read(@Param('id') id: string, @Query() query: BudgetsQuery): Promise<BudgetsRecord> {
    return this.budgets.read(id, query);
  }
}
