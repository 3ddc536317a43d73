import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req, Res } from '@nestjs/common';
import {
  CreateTemplateBody,
  CreateTemplateVersionBody,
  ListTemplatesQuery,
  ListTemplateVersionsQuery,
  PublishTemplateBody,
  UpdateTemplateBody,
  type TemplateRecord,
  type TemplateVersionRecord,
} from '@gateway/contracts';
import { Access, principalOf, sessionOf, type AccessRule, type Page } from '@gateway/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { TEMPLATE_READ_RULE, TEMPLATE_WRITE_RULE } from './template.store.js';
import { TemplatesService } from './templates.service.js';

const READ: AccessRule = { session: true, key: { permission: 'templates:read' }, org: TEMPLATE_READ_RULE };
const WRITE: AccessRule = { session: true, org: TEMPLATE_WRITE_RULE };

@Controller('v1/templates')
export class TemplatesController {
  constructor(private readonly templates: TemplatesService) {}

  /** Creates a prompt template. */
  @Post()
  @Access(WRITE)
  async create(
    @Body() body: CreateTemplateBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<TemplateRecord> {
    const answer = await this.templates.create(sessionOf(request), body, request);
    void reply.code(answer.status);
    return answer.body;
  }

  /** Lists prompt templates. */
  @Get()
  @Access(READ)
  list(@Query() query: ListTemplatesQuery, @Req() request: FastifyRequest): Promise<Page<TemplateRecord>> {
    return this.templates.list(principalOf(request), query);
  }

  /** Reads a prompt template. */
  @Get(':id')
  @Access(READ)
  read(@Param('id') id: string, @Req() request: FastifyRequest): Promise<TemplateRecord> {
    return this.templates.read(principalOf(request), id);
  }

  /** Changes a prompt template, not its versions. */
  @Patch(':id')
  @Access(WRITE)
  update(
    @Param('id') id: string,
    @Body() body: UpdateTemplateBody,
    @Req() request: FastifyRequest,
  ): Promise<TemplateRecord> {
    return this.templates.update(sessionOf(request), id, body, request);
  }

  /** Deletes a prompt template with its versions. */
  @Delete(':id')
  @HttpCode(204)
  @Access(WRITE)
  remove(@Param('id') id: string, @Req() request: FastifyRequest): Promise<void> {
    return this.templates.remove(sessionOf(request), id, request);
  }

  /** Adds a version to a prompt template. */
  @Post(':id/versions')
  @Access(WRITE)
  async addVersion(
    @Param('id') id: string,
    @Body() body: CreateTemplateVersionBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<TemplateVersionRecord> {
    const answer = await this.templates.addVersion(sessionOf(request), id, body, request);
    void reply.code(answer.status);
    return answer.body;
  }

  /** Lists the versions of a prompt template. */
  @Get(':id/versions')
  @Access(READ)
  versions(
    @Param('id') id: string,
    @Query() query: ListTemplateVersionsQuery,
    @Req() request: FastifyRequest,
  ): Promise<Page<TemplateVersionRecord>> {
    return this.templates.versions(principalOf(request), id, query);
  }

  /** Reads a version of a prompt template. */
  @Get(':id/versions/:version_id')
  @Access(READ)
  version(
    @Param('id') id: string,
    @Param('version_id') versionId: string,
    @Req() request: FastifyRequest,
  ): Promise<TemplateVersionRecord> {
    return this.templates.version(principalOf(request), id, versionId);
  }

  /** Publishes a version: requests that name the template get it. */
  @Post(':id/publish')
  @HttpCode(200)
  @Access(WRITE)
  publish(
    @Param('id') id: string,
    @Body() { version_id }: PublishTemplateBody,
    @Req() request: FastifyRequest,
  ): Promise<TemplateRecord> {
    return this.templates.publish(sessionOf(request), id, version_id, request);
  }

  /** Publishes an earlier version again. */
  @Post(':id/versions/:version_id/rollback')
  @HttpCode(200)
  @Access(WRITE)
  rollback(
    @Param('id') id: string,
    @Param('version_id') versionId: string,
    @Req() request: FastifyRequest,
  ): Promise<TemplateRecord> {
    return this.templates.rollback(sessionOf(request), id, versionId, request);
  }
}
