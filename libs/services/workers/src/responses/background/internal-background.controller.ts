import { Body, Controller, HttpCode, Post, Res } from '@nestjs/common';
import {
  AppendEventsBody,
  BackgroundEventsBody,
  BackgroundRunBody,
  BeginBackgroundBody,
  type EventsPage,
} from '@gateway/contracts';
import { Access, closingOf, Pressure, withMemory } from '@gateway/platform';
import type { FastifyReply } from 'fastify';
import { BackgroundStore } from './background.store.js';

/** Background responses as the edges begin, run and read them. */
@Controller('internal/background-responses')
@Access({ internal: true })
export class InternalBackgroundController {
  constructor(
    private readonly background: BackgroundStore,
    private readonly pressure: Pressure,
  ) {}

  @Post()
  @HttpCode(200)
  async begin(@Body() { response, claim }: BeginBackgroundBody): Promise<object> {
    await this.background.begin(response, claim);
    return {};
  }

  @Post('take')
  @HttpCode(200)
  async take(@Body() run: BackgroundRunBody): Promise<{ first: number | null }> {
    return { first: await this.background.take(run) };
  }

  @Post('append')
  @HttpCode(200)
  async append(@Body() { run, events, ended }: AppendEventsBody): Promise<{ is_current: boolean }> {
    return { is_current: await this.background.append(run, events, ended ?? null) };
  }

  @Post('events')
  @HttpCode(200)
  async events(
    @Body() { key_id, response_id, after }: BackgroundEventsBody,
    @Res({ passthrough: true }) { raw }: FastifyReply,
  ): Promise<{ page: EventsPage | null }> {
    const page = await withMemory(this.pressure, closingOf(raw), (reserveMemory) =>
      this.background.events(key_id, response_id, after, reserveMemory),
    );
    return { page };
  }
}
