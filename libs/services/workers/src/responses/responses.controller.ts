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
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError, ItemsQuery, ResponseQuery, type Clock } from '@gateway/contracts';
import { EVENT_STREAM_HEADERS, followEvents } from '@gateway/endpoints';
import { writeJson } from '@gateway/json-body';
import {
  Access,
  CLOCK,
  closingOf,
  PageBudget,
  Pressure,
  principalOf,
  withMemory,
  type EventStreamText,
  type MemoryBudget,
} from '@gateway/platform';
import { BackgroundRunner } from './background/background-runner.js';
import { BackgroundStore } from './background/background.store.js';
import { itemsPage, type ItemsPage } from './items-page.js';
import { StoredResponses } from './responses.store.js';

type Json = Record<string, unknown>;

/** A response is held beside the event that holds it whole. */
const REPLAY_COPIES = 2;

/** Responses that were kept, for the key that made them. */
@Controller(['v1/responses', 'openai/v1/responses'])
@Access({ key: { permission: 'inference:write' } })
export class ResponsesController {
  constructor(
    private readonly responses: StoredResponses,
    private readonly background: BackgroundStore,
    private readonly runner: BackgroundRunner,
    private readonly pressure: Pressure,
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
    const key = keyOf(request);
    if (stream !== 'true') return this.found(key, id, reply);
    const from = after ?? -1;
    const frames = (await this.background.hasEvents(key, id))
      ? this.follow(request, id, from)
      : eventsAfter(await this.found(key, id, reply, REPLAY_COPIES), from);
    void reply.headers(EVENT_STREAM_HEADERS);
    return new StreamableFile(Readable.from(frames, { objectMode: false }));
  }

  private async *follow(request: FastifyRequest, id: string, after: number): AsyncGenerator<string> {
    const key = keyOf(request);
    const budget = new PageBudget(this.remainingOf(request));
    try {
      yield* followEvents({
        read: (last) => budget.read((reserveMemory) => this.background.events(key, id, last, reserveMemory)),
        after,
        clock: this.clock,
        isGone: () => request.raw.destroyed && request.raw.socket.destroyed,
      });
    } finally {
      budget.close();
    }
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
  async cancel(
    @Param('id') id: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Json> {
    const key = keyOf(request);
    const response = await this.found(key, id, reply);
    if (response.background === true) {
      if (await this.background.cancel(key, id)) this.runner.stop(id);
      // As it is by now: it may have ended by itself meanwhile.
      return this.found(key, id, reply);
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
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ItemsPage> {
    const input = (await this.part('input', keyOf(request), id, reply)) as Json[];
    // A caller may leave ids out; those of a list are what it is paged by.
    return itemsPage(
      input.map((item, at) => ({ id: `msg_${id.replace(/^resp_/, '')}_${at}`, ...item })),
      query,
    );
  }

  private remainingOf(request: FastifyRequest): MemoryBudget {
    return this.pressure.ofAccount(principalOf(request).accountId);
  }

  private async found(key: string, id: string, reply: FastifyReply, copies = 1): Promise<Json> {
    return (await this.part('response', key, id, reply, copies)) as Json;
  }

  /** Counted until its answer is closed: who reads it slowly keeps it in memory. Throws resource_not_found. */
  private async part(
    part: 'response' | 'input',
    key: string,
    id: string,
    { raw, request }: FastifyReply,
    copies = 1,
  ): Promise<unknown> {
    const kept = await withMemory(this.remainingOf(request), closingOf(raw), (reserveMemory) =>
      this.responses.read(key, id, part, (bytes) => reserveMemory(copies * bytes)),
    );
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

/**
 * A response that has ended as the events of its stream: each item whole, the closing response last. What comes after a
 * number is sent, and the closing event always, so that a client that resumes learns how it ended. One frame at a time:
 * together they are several times as large as the response.
 */
function* eventsAfter(response: Json, after: number): Generator<string> {
  const output = Array.isArray(response.output) ? (response.output as Json[]) : [];
  const opening = { ...response, status: 'in_progress', output: [], usage: null };
  const events: Json[] = [
    { type: 'response.created', response: opening },
    { type: 'response.in_progress', response: opening },
    ...output.flatMap((item, output_index) => [
      { type: 'response.output_item.added', output_index, item },
      { type: 'response.output_item.done', output_index, item },
    ]),
  ];
  for (const [sequence_number, event] of events.entries())
    if (sequence_number > after) yield frame({ ...event, sequence_number });
  const status = typeof response.status === 'string' ? response.status : 'completed';
  const sequence_number = Math.max(events.length, after + 1);
  yield frame({ type: `response.${status}`, response, sequence_number });
  yield 'data: [DONE]\n\n';
}

function frame(event: Json): string {
  return `event: ${String(event.type)}\ndata: ${writeJson(event)}\n\n`;
}
