import { createHmac } from 'node:crypto';
import { Body, Controller, Get, HttpCode, Inject, Param, Post, Req } from '@nestjs/common';
import {
  ApiError,
  ErasureBody,
  type Clock,
  type ErasureRecord,
  type KeyPrincipal,
  type Random,
} from '@gateway/contracts';
import { auditRow } from '@gateway/database';
import { Access, CLOCK, keyOf, RANDOM } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import { Erasures } from './erasures.js';

/** Forgets an end user of the key's organization. */
@Controller('v1/end-users/erasures')
@Access({ key: { permission: 'end-users:write' } })
export class ErasuresController {
  constructor(
    private readonly erasures: Erasures,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  /** Forgets an end user of the key's organization; the receipt says when it is done. */
  @Post()
  @HttpCode(202)
  erase(@Body() { end_user_id }: ErasureBody, @Req() request: FastifyRequest): Promise<ErasureRecord> {
    const { accountId, orgId, keyId, endUserKey } = ofOrg(request);
    // The same HMAC as the edge writes: the plain id is nowhere to be looked for.
    const endUserHash = createHmac('sha256', Buffer.from(endUserKey, 'base64'))
      .update(end_user_id)
      .digest('base64url');
    return this.erasures.begin({ accountId, orgId, endUserHash, requestedBy: keyId }, (id) =>
      auditRow(
        request,
        { action: 'end_user.erase', targetType: 'erasure', targetId: id, orgId, changedFields: [] },
        { clock: this.clock, random: this.random },
      ),
    );
  }

  /** The receipt. */
  @Get(':id')
  async read(@Param('id') id: string, @Req() request: FastifyRequest): Promise<ErasureRecord> {
    const found = await this.erasures.read(ofOrg(request).accountId, id);
    if (found === null) throw new ApiError('not_found', { message: 'There is no such erasure.' });
    return found;
  }
}

function ofOrg(request: FastifyRequest): KeyPrincipal & { orgId: string } {
  const key = keyOf(request);
  const { orgId } = key;
  if (orgId === null) throw new ApiError('forbidden', { message: 'The key belongs to no organization.' });
  return { ...key, orgId };
}
