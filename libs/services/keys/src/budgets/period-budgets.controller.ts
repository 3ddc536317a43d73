import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req, Res } from '@nestjs/common';
import {
  CreateBudgetBody,
  ListBudgetsQuery,
  RaiseBudgetBody,
  UpdateBudgetBody,
  type PeriodBudgetRecord,
} from '@gateway/contracts';
import { Access, sessionOf, type AccessRule, type Page } from '@gateway/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { PeriodBudgets } from './period-budgets.js';

/** Members reach the budgets of their keys. */
const READ: AccessRule = { session: true, org: { roles: ['owner', 'admin'], own: true } };
const WRITE: AccessRule = { session: true, org: { roles: ['owner', 'admin'] } };

/** Amounts that keys, members, teams and organizations may spend in a calendar period. */
@Controller('v1/budgets')
export class PeriodBudgetsController {
  constructor(private readonly budgets: PeriodBudgets) {}

  /** Creates a budget. What was spent in its period before counts. */
  @Post()
  @Access(WRITE)
  async create(
    @Body() body: CreateBudgetBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<PeriodBudgetRecord> {
    const answer = await this.budgets.create(sessionOf(request), body, WRITE, request);
    void reply.code(answer.status);
    return answer.body;
  }

  /** Lists budgets of an organization; to its members those of their keys. */
  @Get()
  @Access(READ)
  list(@Query() query: ListBudgetsQuery, @Req() request: FastifyRequest): Promise<Page<PeriodBudgetRecord>> {
    return this.budgets.list(sessionOf(request), query);
  }

  /** Reads a budget. */
  @Get(':id')
  @Access(READ)
  read(@Param('id') id: string, @Req() request: FastifyRequest): Promise<PeriodBudgetRecord> {
    return this.budgets.read(sessionOf(request), id);
  }

  /** Changes a budget. It acts on the next request. */
  @Patch(':id')
  @Access(WRITE)
  update(
    @Param('id') id: string,
    @Body() body: UpdateBudgetBody,
    @Req() request: FastifyRequest,
  ): Promise<PeriodBudgetRecord> {
    return this.budgets.update(sessionOf(request), id, body, WRITE, request);
  }

  /** Deletes a budget. */
  @Delete(':id')
  @HttpCode(204)
  @Access(WRITE)
  async remove(@Param('id') id: string, @Req() request: FastifyRequest): Promise<void> {
    await this.budgets.remove(sessionOf(request), id, WRITE, request);
  }

  /** Raises a budget for a time. A second raise replaces the first. */
  @Post(':id/raise')
  @HttpCode(200)
  @Access(WRITE)
  raise(
    @Param('id') id: string,
    @Body() body: RaiseBudgetBody,
    @Req() request: FastifyRequest,
  ): Promise<PeriodBudgetRecord> {
    return this.budgets.raise(sessionOf(request), id, body, WRITE, request);
  }

  /** Ends the raise of a budget. */
  @Delete(':id/raise')
  @HttpCode(200)
  @Access(WRITE)
  endRaise(@Param('id') id: string, @Req() request: FastifyRequest): Promise<PeriodBudgetRecord> {
    return this.budgets.endRaise(sessionOf(request), id, WRITE, request);
  }
}
