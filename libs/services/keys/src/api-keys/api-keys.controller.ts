import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req, Res } from '@nestjs/common';
import {
  CreateKeyBody,
  KeyFilterOptionsQuery,
  ListKeysQuery,
  RotateKeyBody,
  UpdateKeyBody,
  type ApiKeyRecord,
  type CreatedApiKey,
  type KeyFilterOptions,
  type KeyLimitsRecord,
  type OwnKeyRecord,
  type RotatedApiKey,
} from '@gateway/contracts';
import { Access, keyOf, type Page } from '@gateway/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { managerOf } from '../accounts/manager.js';
import { KEY_RULE } from './api-key.store.js';
import { KeyReads } from './key-reads.service.js';
import { KeyWrites } from './key-writes.service.js';

@Controller('v1')
export class ApiKeysController {
  constructor(
    private readonly reads: KeyReads,
    private readonly writes: KeyWrites,
  ) {}

  /** Creates an inference key. Its plaintext is in this answer and never again. */
  @Post('keys')
  @Access({
    session: true,
    adminKey: { scope: 'keys:write' },
    org: { roles: ['owner', 'admin', 'member'], own: true },
  })
  async create(
    @Body() body: CreateKeyBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<CreatedApiKey> {
    const answer = await this.writes.create(managerOf(request), body, request);
    void reply.code(answer.status).header('cache-control', 'no-store');
    return answer.body;
  }

  /** Lists inference keys. */
  @Get('keys')
  @Access({ session: true, adminKey: { scope: 'keys:read' }, org: KEY_RULE })
  list(@Query() query: ListKeysQuery, @Req() request: FastifyRequest): Promise<Page<ApiKeyRecord>> {
    return this.reads.list(managerOf(request), query);
  }

  /** Lists the values by which keys can be filtered. */
  @Get('keys/filter-options')
  @Access({ session: true, adminKey: { scope: 'keys:read' }, org: KEY_RULE })
  filterOptions(
    @Query() query: KeyFilterOptionsQuery,
    @Req() request: FastifyRequest,
  ): Promise<KeyFilterOptions> {
    return this.reads.filterOptions(managerOf(request), query);
  }

  /** Reads a key. It never holds the secret. */
  @Get('keys/:id')
  @Access({ session: true, adminKey: { scope: 'keys:read' }, org: KEY_RULE })
  one(@Param('id') id: string, @Req() request: FastifyRequest): Promise<ApiKeyRecord> {
    return this.reads.one(managerOf(request), id);
  }

  /** Changes a key. What is absent stays as it is, null clears. */
  @Patch('keys/:id')
  @Access({ session: true, adminKey: { scope: 'keys:write' }, org: KEY_RULE })
  update(
    @Param('id') id: string,
    @Body() body: UpdateKeyBody,
    @Req() request: FastifyRequest,
  ): Promise<ApiKeyRecord> {
    return this.writes.update(managerOf(request), id, body, request);
  }

  /** Suspends a key. Answers the record, now `suspended`. */
  @Delete('keys/:id')
  @Access({ session: true, adminKey: { scope: 'keys:write' }, org: KEY_RULE })
  suspend(@Param('id') id: string, @Req() request: FastifyRequest): Promise<ApiKeyRecord> {
    return this.writes.suspend(managerOf(request), id, request);
  }

  /** Takes the suspension of a key back. */
  @Post('keys/:id/reactivate')
  @HttpCode(200)
  @Access({ session: true, adminKey: { scope: 'keys:write' }, org: KEY_RULE })
  reactivate(@Param('id') id: string, @Req() request: FastifyRequest): Promise<ApiKeyRecord> {
    return this.writes.reactivate(managerOf(request), id, request);
  }

  /** Makes a new secret of a key. It is in this answer and never again. */
  @Post('keys/:id/rotate')
  @HttpCode(200)
  @Access({ session: true, adminKey: { scope: 'keys:write' }, org: KEY_RULE })
  rotate(
    @Param('id') id: string,
    @Body() body: RotateKeyBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RotatedApiKey> {
    void reply.header('cache-control', 'no-store');
    return this.writes.rotate(managerOf(request), id, body.grace_seconds, request);
  }

  /** Reads the limits of a key in every scope, and which of them binds. */
  @Get('keys/:id/limits')
  @Access({ session: true, adminKey: { scope: 'keys:read' }, org: KEY_RULE })
  limits(@Param('id') id: string, @Req() request: FastifyRequest): Promise<KeyLimitsRecord> {
    return this.reads.keyLimits(managerOf(request), id);
  }

  /** Reads the key of this very request, with what is left of its limits. */
  @Get('key')
  @Access({ key: true })
  own(@Req() request: FastifyRequest): Promise<OwnKeyRecord> {
    return this.reads.own(keyOf(request));
  }
}
