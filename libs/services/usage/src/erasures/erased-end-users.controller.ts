import { Controller, Get, Query } from '@nestjs/common';
import { ErasedEndUsers, ErasedSinceQuery, type ErasedEndUser } from '@gateway/contracts';
import { Access } from '@gateway/platform';

/** Erasures for the other services, by the fleet's token. */
@Controller('internal/erasures')
@Access({ internal: true })
export class ErasedEndUsersController {
  constructor(private readonly endUsers: ErasedEndUsers) {}

  @Get()
  since(@Query() { since }: ErasedSinceQuery): Promise<{ erased: ErasedEndUser[]; isAll: boolean }> {
    return this.endUsers.since(new Date(since));
  }
}
