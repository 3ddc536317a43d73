import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req, Res } from '@nestjs/common';
import {
  ApiError,
  CreatePlatformAliasBody,
  ListPlatformAliasesQuery,
  UpdatePlatformAliasBody,
  type AliasRecord,
} from '@gateway/contracts';
import { Access, sentFields, sessionOf, type Page } from '@gateway/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Aliases } from './aliases.service.js';
import { FILE, PLATFORM } from './stored-aliases.js';

const OWNERS = [PLATFORM, FILE];

/** Names of the platform that stand for models: every key may use them. Of organizations' names it sets the shadow alone. */
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

  /** Lists the aliases of the platform, or of one organization. */
  @Get()
  list(@Query() query: ListPlatformAliasesQuery): Promise<Page<AliasRecord>> {
    return this.aliases.list(query.org_id === undefined ? OWNERS : [query.org_id], query);
  }

  /** Reads an alias of the platform or of any organization. */
  @Get(':id')
  read(@Param('id') id: string): Promise<AliasRecord> {
    return this.aliases.read(null, id);
  }

  /** Changes an alias of the platform, or the shadow of any organization's. Requests follow within seconds. */
  @Patch(':id')
  update(
    @Param('id') id: string,
    @Body() body: UpdatePlatformAliasBody,
    @Req() request: FastifyRequest,
  ): Promise<AliasRecord> {
    const mayChange = (owner: string): void => {
      if (OWNERS.includes(owner) || sentFields(body).every((field) => field === 'shadow')) return;
      throw new ApiError('forbidden', {
        message: 'Of the alias of an organization the platform sets the shadow alone.',
      });
    };
    return this.aliases.update(request, { owners: null, id, mayChange }, body);
  }

  /** Deletes an alias of the platform: its name is unknown to requests. */
  @Delete(':id')
  @HttpCode(204)
  async remove(@Param('id') id: string, @Req() request: FastifyRequest): Promise<void> {
    await this.aliases.remove(request, { owners: OWNERS, id, mayChange: () => undefined });
  }
}
