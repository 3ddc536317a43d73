import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req, Res } from '@nestjs/common';
import {
  CreateProviderKeyBody,
  ListProviderKeysQuery,
  OpenProviderKeyBody,
  ProviderKeyUsesBody,
  UpdateProviderKeyBody,
  type ProviderCredential,
  type ProviderKeyRecord,
  type ProviderKeyTest,
} from '@gateway/contracts';
import { Access, sessionOf, type Page } from '@gateway/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DatabaseProviderKeyVault } from './database-provider-key-vault.js';
import { PROVIDER_KEY_RULE } from './provider-key.store.js';
import { ProviderKeysService } from './provider-keys.service.js';

@Controller('v1/provider-keys')
export class ProviderKeysController {
  constructor(private readonly keys: ProviderKeysService) {}

  /** Stores a key of a provider. It is sealed and never shown. */
  @Post()
  @Access({ session: true, org: PROVIDER_KEY_RULE })
  async create(
    @Body() body: CreateProviderKeyBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ProviderKeyRecord> {
    const answer = await this.keys.create(sessionOf(request), body, request);
    void reply.code(answer.status);
    return answer.body;
  }

  /** Lists provider keys. */
  @Get()
  @Access({ session: true, org: PROVIDER_KEY_RULE })
  list(
    @Query() query: ListProviderKeysQuery,
    @Req() request: FastifyRequest,
  ): Promise<Page<ProviderKeyRecord>> {
    return this.keys.list(sessionOf(request), query);
  }

  /** Reads a provider key, without its secret. */
  @Get(':id')
  @Access({ session: true, org: PROVIDER_KEY_RULE })
  read(@Param('id') id: string, @Req() request: FastifyRequest): Promise<ProviderKeyRecord> {
    return this.keys.read(sessionOf(request), id);
  }

  /** Changes a provider key. What is absent stays as it is. */
  @Patch(':id')
  @Access({ session: true, org: PROVIDER_KEY_RULE })
  update(
    @Param('id') id: string,
    @Body() body: UpdateProviderKeyBody,
    @Req() request: FastifyRequest,
  ): Promise<ProviderKeyRecord> {
    return this.keys.update(sessionOf(request), id, body, request);
  }

  /** Tests a provider key against its provider. */
  @Post(':id/test')
  @HttpCode(200)
  @Access({ session: true, org: PROVIDER_KEY_RULE })
  test(@Param('id') id: string, @Req() request: FastifyRequest): Promise<ProviderKeyTest> {
    return this.keys.test(sessionOf(request), id);
  }

  /** Deletes a provider key. */
  @Delete(':id')
  @HttpCode(204)
  @Access({ session: true, org: PROVIDER_KEY_RULE })
  remove(@Param('id') id: string, @Req() request: FastifyRequest): Promise<void> {
    return this.keys.remove(sessionOf(request), id, request);
  }
}

/** The edge opens provider keys here and says how they fared; `/internal` is never forwarded from outside. */
@Controller('internal/provider-keys')
export class ProviderKeyVaultController {
  constructor(private readonly vault: DatabaseProviderKeyVault) {}

  @Post('open')
  @HttpCode(200)
  @Access({ internal: true })
  async open(
    @Body() { account_id, id, version }: OpenProviderKeyBody,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<{ credential: ProviderCredential | null }> {
    void reply.header('cache-control', 'no-store');
    return { credential: await this.vault.open(account_id, id, version) };
  }

  @Post('uses')
  @HttpCode(204)
  @Access({ internal: true })
  async report(@Body() { uses }: ProviderKeyUsesBody): Promise<void> {
    await this.vault.report(
      uses.map(({ account_id: accountId, id: keyId, at_ms: atMs, refusal }) => ({
        accountId,
        keyId,
        atMs,
        failure:
          refusal == null
            ? null
            : {
                model: refusal.model,
                requestId: refusal.request_id,
                errorCode: refusal.error_code,
                providerCode: refusal.provider_code ?? null,
                message: refusal.message,
                servedOnPlatform: refusal.served_on_platform,
              },
      })),
    );
  }
}
