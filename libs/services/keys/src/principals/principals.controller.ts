import { createHash } from 'node:crypto';
import { Body, Controller, Headers, HttpCode, Post, Res } from '@nestjs/common';
import {
  ApiError,
  ReadKeyPrincipalBody,
  ResolveKeysBody,
  ResolvePrincipalBody,
  type Credential,
  type KeyPrincipal,
  type Principal,
  type ResolvedKeys,
} from '@gateway/contracts';
import { Access } from '@gateway/platform';
import type { FastifyReply } from 'fastify';
import { DatabasePrincipalReader } from './database-principal-reader.js';

/** The other services' guard asks here; `/internal` is never forwarded from outside. */
@Controller('internal/principals')
export class PrincipalsController {
  constructor(private readonly reader: DatabasePrincipalReader) {}

  /** Always past the cache: the caller has its own, and asks because it may be old. */
  @Post('resolve')
  @HttpCode(200)
  @Access({ internal: true })
  async resolve(
    @Body() body: ResolvePrincipalBody,
    @Headers('if-none-match') known: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Principal | undefined> {
    const principal = await this.reader.reload(credentialOf(body));
    const etag = etagOf(principal);
    void reply.header('etag', etag);
    if (known !== etag) return principal;
    void reply.code(304);
    return undefined;
  }

  /** Keys that an edge has not seen yet, several at once. */
  @Post('keys')
  @HttpCode(200)
  @Access({ internal: true })
  async keys(@Body() { digests, is_ahead: isAhead }: ResolveKeysBody): Promise<ResolvedKeys> {
    const principals = await this.reader.readKeys(digests, isAhead);
    return {
      keys: principals.map((principal) =>
        principal === null ? null : { principal, etag: etagOf(principal) },
      ),
    };
  }

  /**
   * Returns a key for people who look at their own: the caller checks which accounts those are, and their role there.
   */
  @Post('by-id')
  @HttpCode(200)
  @Access({ internal: true })
  key(@Body() body: ReadKeyPrincipalBody): Promise<KeyPrincipal> {
    return this.reader.keyById(body.key_id, body.account_ids);
  }
}

function etagOf(principal: Principal): string {
  return `"${createHash('sha256').update(JSON.stringify(principal)).digest('base64url')}"`;
}

function credentialOf({ kind, digest, token }: ResolvePrincipalBody): Credential {
  if (kind === 'session' && token !== undefined) return { kind, token };
  if (kind !== 'session' && digest !== undefined) return { kind, digest };
  throw new ApiError('validation_error');
}
