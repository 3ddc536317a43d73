import { Controller, Get, Inject, Param } from '@nestjs/common';
import { ApiError, type Clock, type OperatorRequestLookup } from '@gateway/contracts';
import { Access, CLOCK } from '@gateway/platform';
import { EventsStore } from './events.store.js';
import { Names } from './names.js';
import { RejectionsStore } from './rejections.store.js';
import { RETENTION_DAYS } from './request-wire.js';

const DAY_MS = 86_400_000;

/** Requests of every organization, for operators of the platform. */
@Controller('v1/admin/usage/requests')
@Access({ superAdmin: true })
export class OperatorRequestsController {
  constructor(
    private readonly events: EventsStore,
    private readonly rejections: RejectionsStore,
    private readonly names: Names,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Reads what became of a request of any organization, with provider, upstream model and credential of every attempt. */
  @Get(':request_id')
  async lookup(@Param('request_id') id: string): Promise<OperatorRequestLookup> {
    const notBefore = new Date(this.clock.now() - RETENTION_DAYS * DAY_MS);
    const found =
      (await this.events.operatorLookup(id, notBefore)) ??
      (await this.rejections.operatorLookup(id, notBefore));
    if (found === null) throw new ApiError('not_found', { message: 'There is no record of this request.' });
    return (await this.names.labelled(found.accountId, [found.record]))[0];
  }
}
