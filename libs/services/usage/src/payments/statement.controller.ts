import { Controller, Get, Query, Req } from '@nestjs/common';
import { StatementQuery, type StatementRecord } from '@gateway/contracts';
import { Access } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import { FairScheduler } from '../reads/fair-scheduler.js';
import { Names } from '../reads/names.js';
import { MONEY_RULE, payerOf } from './payer.js';
import { StatementStore } from './statement.store.js';

/** Statements of an account: of an organization for its owners and admins, else of the person. */
@Controller('v1/billing')
@Access({ session: true, org: MONEY_RULE })
export class StatementController {
  constructor(
    private readonly statements: StatementStore,
    private readonly names: Names,
    private readonly scheduler: FairScheduler,
  ) {}

  /** Reads a month: what was there, came in, was used by team and model, and is left. */
  @Get('statement')
  async read(@Query() query: StatementQuery, @Req() request: FastifyRequest): Promise<StatementRecord> {
    const { accountId } = payerOf(request, query.org_id);
    const statement = await this.scheduler.of(accountId, () => this.statements.read(accountId, query.month));
    const ids = [...new Set(statement.usage.flatMap(({ team_id: id }) => (id === null ? [] : [id])))];
    const named = await this.names.groups(accountId, 'team', ids);
    const names = new Map(named.map(({ id, label }) => [id, label]));
    const usage = statement.usage.map((row) => ({ ...row, team_name: names.get(row.team_id ?? '') ?? null }));
    return { ...statement, usage };
  }
}
