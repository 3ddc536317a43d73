import { Body, Controller, HttpCode, Post, Res } from '@nestjs/common';
import {
  ApiError,
  ForgetResponsesBody,
  KeepResponsesBody,
  RecallBody,
  ReferencedItemsBody,
  type RecalledItems,
  type ResponseLink,
} from '@gateway/contracts';
import { Access, closingOf, Pressure, withMemory } from '@gateway/platform';
import type { FastifyReply } from 'fastify';
import { StoredResponses } from './responses.store.js';

/** Routes for the responses that edges store here and continue. */
@Controller('internal/responses')
@Access({ internal: true })
export class InternalResponsesController {
  constructor(
    private readonly responses: StoredResponses,
    private readonly pressure: Pressure,
  ) {}

  @Post()
  @HttpCode(204)
  async keep(@Body() { responses }: KeepResponsesBody): Promise<void> {
    await this.responses.store(responses);
  }

  @Post('recall')
  @HttpCode(200)
  async recall(
    @Body() { key_id: key, response_id, conversation_id }: RecallBody,
    @Res({ passthrough: true }) { raw }: FastifyReply,
  ): Promise<{ found: RecalledItems | null }> {
    const recalled = async (link: ResponseLink): Promise<{ found: RecalledItems | null }> => ({
      found: await withMemory(this.pressure, closingOf(raw), (reserveMemory) =>
        this.responses.recall(key, link, reserveMemory),
      ),
    });
    if (response_id !== undefined) return recalled({ response_id });
    if (conversation_id !== undefined) return recalled({ conversation_id });
    throw new ApiError('validation_error');
  }

  @Post('items')
  @HttpCode(200)
  async items(
    @Body() { key_id, ids }: ReferencedItemsBody,
    @Res({ passthrough: true }) { raw }: FastifyReply,
  ): Promise<{ items: object }> {
    const items = await withMemory(this.pressure, closingOf(raw), (reserveMemory) =>
      this.responses.items(key_id, ids, reserveMemory),
    );
    return { items: Object.fromEntries(items) };
  }

  @Post('files')
  @HttpCode(200)
  async files(@Body() { key_id, ids }: ReferencedItemsBody): Promise<{ files: object }> {
    return { files: Object.fromEntries(await this.responses.files(key_id, ids)) };
  }

  /** Removes for the usage service, whose receipt of an erasure waits for it. */
  @Post('forget')
  @HttpCode(204)
  async forget(@Body() { account_id, end_user_hash, until }: ForgetResponsesBody): Promise<void> {
    await this.responses.forget(account_id, end_user_hash, new Date(until));
  }
}
