import { Readable } from 'node:stream';
import {
  Controller,
  Delete,
  Get,
  HttpCode,
  Inject,
  Param,
  Post,
  Query,
  Req,
  Res,
  StreamableFile,
} from '@nestjs/common';
import { ApiError, ItemsQuery, ResponseQuery, type Clock } from '@gateway/contracts';
import { EVENT_STREAM_HEADERS, followEvents } from '@gateway/endpoints';
import { Access, CLOCK, principalOf, type EventStreamText } from '@gateway/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { BackgroundRunner } from './background/background-runner.js';
import { BackgroundStore } from './background/background.store.js';
import { itemsPage, type ItemsPage } from './items-page.js';
import { eventsAfter } from './replay-events.js';
import { StoredResponses } from './responses.store.js';

type Json = Record<string, unknown>;

/** Responses that were kept, for the key that made them. */
@Controller(['v1/responses', 'openai/v1/responses'])
@Access({ key: { permission: 'inference:write' } })
export class ResponsesController {
  constructor(
    private readonly responses: StoredResponses,
    private readonly background: BackgroundStore,
    private readonly runner: BackgroundRunner,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Reads a response that was kept, also as events. */
  @Get(':id')
  async read(
    @Param('id') id: string,
    @Query() { stream, starting_after: after }: ResponseQuery,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Json | EventStreamText | StreamableFile> {
    const { response, is_open } = await this.found(request, id);
    if (stream !== 'true') return response;
    void reply.headers(EVENT_STREAM_HEADERS);
    const events = await this.background.events(keyOf(request), id, after ?? -1);
    if (!is_open && !events?.events.length) return eventsAfter(response, after ?? -1);
    return new StreamableFile(Readable.from(this.follow(request, id, after ?? -1), { objectMode: false }));
  }

  private follow(request: FastifyRequest, id: string, after: number): AsyncIterable<string> {
    const key = keyOf(request);
    return followEvents({
      read: (last) => this.background.events(key, id, last),
      after,
      clock: this.clock,
      isGone: () => request.raw.destroyed && request.raw.socket.destroyed,
    });
  }

  /** Deletes a response. */
  @Delete(':id')
  async remove(
    @Param('id') id: string,
    @Req() request: FastifyRequest,
  ): Promise<{ id: string; object: 'response'; deleted: true }> {
    if (!(await this.responses.remove(keyOf(request), id))) throw unknown(id);
    return { id, object: 'response', deleted: true };
  }

  /** Cancels a response that runs in the background; of one that has ended it answers how. */
  @Post(':id/cancel')
  @HttpCode(200)
  async cancel(@Param('id') id: string, @Req() request: FastifyRequest): Promise<Json> {
    const { response } = await this.found(request, id);
    if (response.background === true) {
      if (await this.background.cancel(keyOf(request), id)) this.runner.stop(id);
      // As it is by now: it may have ended by itself meanwhile.
      return (await this.found(request, id)).response;
    }
    throw new ApiError('bad_request', {
      message: 'Only responses that were created with background: true can be cancelled.',
    });
  }

  /** Lists the input items of a response. */
  @Get(':id/input_items')
  async items(
    @Param('id') id: string,
    @Query() query: ItemsQuery,
    @Req() request: FastifyRequest,
  ): Promise<ItemsPage> {
    const { input } = await this.found(request, id);
    // A caller may leave ids out; those of a list are what it is paged by.
    return itemsPage(
      input.map((item, at) => ({ id: `msg_${id.replace(/^resp_/, '')}_${at}`, ...item })),
      query,
    );
  }

  private async found(
    request: FastifyRequest,
    id: string,
  ): Promise<{ response: Json; input: Json[]; is_open: boolean }> {
    const kept = await this.responses.read(keyOf(request), id);
    if (kept === null) throw unknown(id);
    return kept;
  }
}

export function keyOf(request: FastifyRequest): string {
  const principal = principalOf(request);
  if (principal.kind !== 'key') throw new ApiError('forbidden');
  return principal.keyId;
}

function unknown(id: string): ApiError {
  return new ApiError('resource_not_found', { message: `No response with id ${id.slice(0, 80)} was found.` });
}
