import { Body, Controller, Delete, Get, HttpCode, Param, Put, Query, Req } from '@nestjs/common';
import { MemoriesQuery, PutMemoriesBody, type MemoriesRecord } from '@gateway/contracts';
import { Access, principalOf, type AccessRule } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import { MEMORY_RULE, MemoriesService } from './memories.service.js';

const RULE: AccessRule = { session: true, key: { permission: 'end-users:write' }, org: MEMORY_RULE };

@Controller('v1/memories')
export class MemoriesController {
  constructor(private readonly memories: MemoriesService) {}

  /** Replaces what is remembered of an end user. */
  @Put(':end_user_id')
  @Access(RULE)
  put(
    @Param('end_user_id') id: string,
    @Query() { org_id }: MemoriesQuery,
    @Body() body: PutMemoriesBody,
    @Req() request: FastifyRequest,
  ): Promise<MemoriesRecord> {
    return this.memories.put(principalOf(request), org_id ?? null, id, body, request);
  }

  /** Reads what is remembered of an end user. */
  @Get(':end_user_id')
  @Access(RULE)
  read(
    @Param('end_user_id') id: string,
    @Query() { org_id }: MemoriesQuery,
    @Req() request: FastifyRequest,
  ): Promise<MemoriesRecord> {
    return this.memories.read(principalOf(request), org_id ?? null, id);
  }

  /** Forgets an end user. */
  @Delete(':end_user_id')
  @HttpCode(204)
  @Access(RULE)
  clear(
    @Param('end_user_id') id: string,
    @Query() { org_id }: MemoriesQuery,
    @Req() request: FastifyRequest,
  ): Promise<void> {
    return this.memories.clear(principalOf(request), org_id ?? null, id, request);
  }
}
