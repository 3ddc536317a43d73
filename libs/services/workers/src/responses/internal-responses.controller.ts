import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import {
  ApiError,
  KeepResponsesBody,
  RecallBody,
  ReferencedItemsBody,
  type RecalledItems,
} from '@gateway/contracts';
import { Access } from '@gateway/platform';
import { StoredResponses } from './responses.store.js';

/** What the edges keep here and go on from. */
@Controller('internal/responses')
@Access({ internal: true })
export class InternalResponsesController {
  constructor(private readonly responses: StoredResponses) {}

  @Post()
  @HttpCode(204)
  async keep(@Body() { responses }: KeepResponsesBody): Promise<void> {
    await this.responses.keep(responses);
  }

  @Post('recall')
  @HttpCode(200)
  async recall(
    @Body() { key_id: key, response_id, conversation_id }: RecallBody,
  ): Promise<{ found: RecalledItems | null }> {
    if (response_id !== undefined) return { found: await this.responses.recall(key, { response_id }) };
    if (conversation_id !== undefined)
      return { found: await this.responses.recall(key, { conversation_id }) };
    throw new ApiError('validation_error');
  }

  @Post('items')
  @HttpCode(200)
  async items(@Body() { key_id, ids }: ReferencedItemsBody): Promise<{ items: object }> {
    return { items: Object.fromEntries(await this.responses.items(key_id, ids)) };
  }

  @Post('files')
  @HttpCode(200)
  async files(@Body() { key_id, ids }: ReferencedItemsBody): Promise<{ files: object }> {
    return { files: Object.fromEntries(await this.responses.files(key_id, ids)) };
  }
}
