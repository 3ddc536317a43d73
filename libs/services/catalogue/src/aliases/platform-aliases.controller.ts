import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req, Res } from '@nestjs/common';
import {
  CreatePlatformAliasBody,
  ListPlatformAliasesQuery,
  UpdateAliasBody,
  type AliasRecord,
} from '@gateway/contracts';
import { Access, sessionOf, type Page } from '@gateway/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Aliases } from './aliases.service.js';
import { FILE, PLATFORM } from './stored-aliases.js';

const OWNERS = [PLATFORM, FILE];

/** Names of the platform that stand for models: every key may use them. */
@Controller('v1/admin/aliases')
@Access({ superAdmin: true })
export class PlatformAliasesController {
  constructor(private readonly aliases: Aliases) {}

  /** Creates a name for every organization that stands for one model, or for several by weight. */
  @Post()
  async create(
    @Body() body: CreatePlatformAliasBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AliasRecord> {
    const { userId: by } = sessionOf(request);
    const answer = await this.aliases.create(request, { owner: PLATFORM, by }, body);
    void reply.code(answer.status);
    return answer.body;
  }

  /** Lists the platform's aliases. */
  @Get()
  list(@Query() query: ListPlatformAliasesQuery): Promise<Page<AliasRecord>> {
    return this.aliases.list(OWNERS, query);
  }

  /** Reads an alias of the platform. */
  @Get(':id')
  read(@Param('id') id: string): Promise<AliasRecord> {
    return this.aliases.read(OWNERS, id);
  }

  /** Changes an alias of the platform. Requests follow within seconds. */
  @Patch(':id')
  update(
    @Param('id') id: string,
    @Body() body: UpdateAliasBody,
    @Req() request: FastifyRequest,
  ): Promise<AliasRecord> {
    return this.aliases.update(request, changeOf(id), body);
  }

  /** Deletes an alias of the platform: its name is unknown to requests. */
  @Delete(':id')
  @HttpCode(204)
  async remove(@Param('id') id: string, @Req() request: FastifyRequest): Promise<void> {
    await this.aliases.remove(request, changeOf(id));
  }
}

function changeOf(id: string): Parameters<Aliases['update']>[1] {
  return { owners: OWNERS, id, mayChange: () => undefined };
}
