import { Controller, Delete, Get, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiError, ItemsQuery, ResponseQuery } from '@gateway/contracts';
import { Access, principalOf, type EventStreamText } from '@gateway/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { itemsPage, type ItemsPage } from './items-page.js';
import { eventsAfter } from './replay-events.js';
import { StoredResponses } from './responses.store.js';

type Json = Record<string, unknown>;

/** Responses that were kept, for the key that made them. */
@Controller(['v1/responses', 'openai/v1/responses'])
@Access({ key: { permission: 'inference:write' } })
export class ResponsesController {
  constructor(private readonly responses: StoredResponses) {}

  /** Reads a response that was kept, also as events. */
  @Get(':id')
  async read(
    @Param('id') id: string,
    @Query() { stream, starting_after: after }: ResponseQuery,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Json | EventStreamText> {
    const { response } = await this.found(request, id);
    if (stream !== 'true') return response;
    void reply.header('content-type', 'text/event-stream; charset=utf-8').header('cache-control', 'no-cache');
    return eventsAfter(response, after ?? -1);
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

  /** Cancels a response. Only what runs in the background can be cancelled, and what is kept has ended. */
  @Post(':id/cancel')
  @HttpCode(200)
  async cancel(@Param('id') id: string, @Req() request: FastifyRequest): Promise<Json> {
    const { response } = await this.found(request, id);
    if (response.background === true) return response;
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

  private async found(request: FastifyRequest, id: string): Promise<{ response: Json; input: Json[] }> {
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
