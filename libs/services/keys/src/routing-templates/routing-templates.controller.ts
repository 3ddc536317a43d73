import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req, Res } from '@nestjs/common';
import {
  CreateRoutingPolicyTemplateBody,
  ListRoutingPolicyTemplatesQuery,
  UpdateRoutingPolicyTemplateBody,
  type RoutingPolicyTemplateRecord,
} from '@gateway/contracts';
import { Access, sessionOf, type AccessRule, type Page } from '@gateway/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { RoutingTemplates } from './routing-templates.service.js';

const READ: AccessRule = { session: true, org: { roles: ['owner', 'admin', 'member'] } };
const WRITE: AccessRule = { session: true, org: { roles: ['owner', 'admin'] } };

/** Routing policies that keys of one organization share. */
@Controller('v1/routing-policy-templates')
export class RoutingTemplatesController {
  constructor(private readonly templates: RoutingTemplates) {}

  /** Creates a routing policy that keys can share. */
  @Post()
  @Access(WRITE)
  async create(
    @Body() body: CreateRoutingPolicyTemplateBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RoutingPolicyTemplateRecord> {
    const answer = await this.templates.create(sessionOf(request), body, WRITE, request);
    void reply.code(answer.status);
    return answer.body;
  }

  /** Lists routing policy templates. */
  @Get()
  @Access(READ)
  list(
    @Query() query: ListRoutingPolicyTemplatesQuery,
    @Req() request: FastifyRequest,
  ): Promise<Page<RoutingPolicyTemplateRecord>> {
    return this.templates.list(sessionOf(request), query);
  }

  /** Reads a routing policy template. */
  @Get(':id')
  @Access(READ)
  read(@Param('id') id: string, @Req() request: FastifyRequest): Promise<RoutingPolicyTemplateRecord> {
    return this.templates.read(sessionOf(request), id, READ);
  }

  /** Changes a routing policy template, and with it every key that uses it. */
  @Patch(':id')
  @Access(WRITE)
  update(
    @Param('id') id: string,
    @Body() body: UpdateRoutingPolicyTemplateBody,
    @Req() request: FastifyRequest,
  ): Promise<RoutingPolicyTemplateRecord> {
    return this.templates.update(sessionOf(request), id, body, WRITE, request);
  }

  /** Deletes a routing policy template. 409 while a key uses it. */
  @Delete(':id')
  @HttpCode(204)
  @Access(WRITE)
  async remove(@Param('id') id: string, @Req() request: FastifyRequest): Promise<void> {
    await this.templates.remove(sessionOf(request), id, WRITE, request);
  }
}
