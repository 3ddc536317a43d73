import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req, Res } from '@nestjs/common';
import {
  CreateProviderBudgetBody,
  ListProviderBudgetsQuery,
  RaiseBudgetBody,
  UpdateBudgetBody,
  type PeriodBudgetRecord,
} from '@gateway/contracts';
import { Access, type Page } from '@gateway/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ProviderBudgets } from './provider-budgets.js';

/** Amounts that the platform may owe its providers in a period. */
@Controller('v1/admin/budgets')
@Access({ superAdmin: true })
export class ProviderBudgetsController {
  constructor(private readonly budgets: ProviderBudgets) {}

  /** Creates a budget of a provider. Once a hard one is spent, the provider's routes on the platform's credentials leave plans. */
  @Post()
  async create(
    @Body() body: CreateProviderBudgetBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<PeriodBudgetRecord> {
    const answer = await this.budgets.create(body, request);
    void reply.code(answer.status);
    return answer.body;
  }

  /** Lists budgets of providers, those of gateway.yaml first. */
  @Get()
  list(@Query() query: ListProviderBudgetsQuery): Promise<Page<PeriodBudgetRecord>> {
    return this.budgets.list(query);
  }

  /** Reads a budget of a provider. */
  @Get(':id')
  read(@Param('id') id: string): Promise<PeriodBudgetRecord> {
    return this.budgets.read(id);
  }

  /** Changes a budget of a provider. Every edge has it within 2 s. */
  @Patch(':id')
  update(
    @Param('id') id: string,
    @Body() body: UpdateBudgetBody,
    @Req() request: FastifyRequest,
  ): Promise<PeriodBudgetRecord> {
    return this.budgets.update(id, body, request);
  }

  /** Deletes a budget of a provider. */
  @Delete(':id')
  @HttpCode(204)
  async remove(@Param('id') id: string, @Req() request: FastifyRequest): Promise<void> {
    await this.budgets.remove(id, request);
  }

  /** Raises a budget of a provider for a time. A second raise replaces the first. */
  @Post(':id/raise')
  @HttpCode(200)
  raise(
    @Param('id') id: string,
    @Body() body: RaiseBudgetBody,
    @Req() request: FastifyRequest,
  ): Promise<PeriodBudgetRecord> {
    return this.budgets.raise(id, body, request);
  }

  /** Ends the raise of a budget of a provider. */
  @Delete(':id/raise')
  @HttpCode(200)
  endRaise(@Param('id') id: string, @Req() request: FastifyRequest): Promise<PeriodBudgetRecord> {
    return this.budgets.endRaise(id, request);
  }
}
