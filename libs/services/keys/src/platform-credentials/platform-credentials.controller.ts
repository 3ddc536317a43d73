import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req, Res } from '@nestjs/common';
import {
  CreatePlatformCredentialBody,
  CredentialReportBody,
  ListPlatformCredentialsQuery,
  OpenPlatformCredentialBody,
  RotatePlatformCredentialBody,
  UpdatePlatformCredentialBody,
  type PlatformCredentialRecord,
  type PlatformPool,
  type ProviderCredential,
  type ProviderKeyTest,
  type TestedPlatformCredential,
} from '@gateway/contracts';
import { Access, sessionOf, type Page } from '@gateway/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DatabasePlatformCredentials } from './database-platform-credentials.js';
import { PlatformCredentialsService } from './platform-credentials.service.js';

@Controller('v1/admin/providers/:slug/credentials')
@Access({ superAdmin: true })
export class PlatformCredentialsController {
  constructor(private readonly credentials: PlatformCredentialsService) {}

  /** Adds a credential of the platform. It is tried at its provider first, sealed, and never shown. */
  @Post()
  async create(
    @Param('slug') slug: string,
    @Body() body: CreatePlatformCredentialBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<TestedPlatformCredential> {
    const answer = await this.credentials.create(sessionOf(request), slug, body, request);
    void reply.code(answer.status);
    return answer.body;
  }

  /** Lists the credentials of the platform at a provider. The one of the environment is the first. */
  @Get()
  list(
    @Param('slug') slug: string,
    @Query() query: ListPlatformCredentialsQuery,
  ): Promise<Page<PlatformCredentialRecord>> {
    return this.credentials.list(slug, query);
  }

  /** Reads a credential of the platform, without its secret. */
  @Get(':id')
  read(@Param('slug') slug: string, @Param('id') id: string): Promise<PlatformCredentialRecord> {
    return this.credentials.read(slug, id);
  }

  /** Changes a credential of the platform. What is absent stays as it is. */
  @Patch(':id')
  update(
    @Param('slug') slug: string,
    @Param('id') id: string,
    @Body() body: UpdatePlatformCredentialBody,
    @Req() request: FastifyRequest,
  ): Promise<PlatformCredentialRecord> {
    return this.credentials.update(slug, id, body, request);
  }

  /** Replaces the secret of a credential of the platform. Requests under way end on the old one. */
  @Post(':id/rotate')
  @HttpCode(200)
  rotate(
    @Param('slug') slug: string,
    @Param('id') id: string,
    @Body() body: RotatePlatformCredentialBody,
    @Req() request: FastifyRequest,
  ): Promise<TestedPlatformCredential> {
    return this.credentials.rotate(slug, id, body, request);
  }

  /** Tests a credential of the platform against its provider. */
  @Post(':id/test')
  @HttpCode(200)
  test(@Param('slug') slug: string, @Param('id') id: string): Promise<ProviderKeyTest> {
    return this.credentials.test(slug, id);
  }

  /** Removes a credential of the platform. */
  @Delete(':id')
  @HttpCode(204)
  remove(
    @Param('slug') slug: string,
    @Param('id') id: string,
    @Req() request: FastifyRequest,
  ): Promise<void> {
    return this.credentials.remove(slug, id, request);
  }
}

/** The edges learn and open the platform's credentials here; `/internal` is never forwarded from outside. */
@Controller('internal/platform-credentials')
export class PlatformCredentialPoolController {
  constructor(private readonly pool: DatabasePlatformCredentials) {}

  @Post('sync')
  @HttpCode(200)
  @Access({ internal: true })
  sync(@Body() report: CredentialReportBody): Promise<PlatformPool> {
    return this.pool.sync(report);
  }

  @Post('open')
  @HttpCode(200)
  @Access({ internal: true })
  async open(
    @Body() { id, version }: OpenPlatformCredentialBody,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<{ credential: ProviderCredential | null }> {
    void reply.header('cache-control', 'no-store');
    return { credential: await this.pool.open(id, version) };
  }
}
