import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import {
  ClaimIdempotencyBody,
  CompleteIdempotencyBody,
  IdempotencyClaimBody,
  type IdempotencyRecord,
} from '@gateway/contracts';
import { IdempotencyTable } from '@gateway/database';
import { Access } from '@gateway/platform';

/** Idempotency-Keys of what the edges run themselves. */
@Controller('internal/idempotency')
@Access({ internal: true })
export class InternalIdempotencyController {
  constructor(private readonly table: IdempotencyTable) {}

  @Post('claim')
  @HttpCode(200)
  async claim(@Body() asked: ClaimIdempotencyBody): Promise<{ held: IdempotencyRecord | null }> {
    return { held: await this.table.claim(asked.claim, asked.replace_before, asked.abandoned_before) };
  }

  @Post('renew')
  @HttpCode(200)
  async renew(@Body() claim: IdempotencyClaimBody): Promise<object> {
    await this.table.renew(claim);
    return {};
  }

  @Post('complete')
  @HttpCode(200)
  async complete(@Body() { claim, answer }: CompleteIdempotencyBody): Promise<{ is_kept: boolean }> {
    return { is_kept: await this.table.complete(claim, answer) };
  }

  @Post('release')
  @HttpCode(200)
  async release(@Body() claim: IdempotencyClaimBody): Promise<object> {
    await this.table.release(claim);
    return {};
  }
}
