import { Controller, Get, Inject, Param, Query } from '@nestjs/common';
import { AliasShadowQuery, type AliasShadowPage, type Clock } from '@gateway/contracts';
import { Access, CLOCK, timesOf } from '@gateway/platform';
import { ShadowsStore } from './shadows.store.js';

const DAYS_MS = 30 * 86_400_000;

/** Shadows of aliases beside what callers were answered, for operators of the platform. */
@Controller('v1/admin/aliases')
@Access({ superAdmin: true })
export class ShadowsController {
  constructor(
    private readonly shadows: ShadowsStore,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Compares an alias with its shadow, request by request and in sum. Empty for an alias without any. */
  @Get(':id/shadow')
  read(@Param('id') id: string, @Query() query: AliasShadowQuery): Promise<AliasShadowPage> {
    const { limit, offset } = query;
    const { from, before } = timesOf(query);
    const untilMs = before?.getTime() ?? this.clock.now();
    const sinceMs = from?.getTime() ?? untilMs - DAYS_MS;
    return this.shadows.page({ aliasId: id, sinceMs, untilMs, limit, offset });
  }
}
