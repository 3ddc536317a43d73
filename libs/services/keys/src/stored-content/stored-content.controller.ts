import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { FindMemoriesBody, FindTemplateBody, type PromptContent } from '@gateway/contracts';
import { Access } from '@gateway/platform';
import { DatabaseStoredContent } from './database-stored-content.js';

/** The edge reads here what a request names; `/internal` is never forwarded from outside. */
@Controller('internal/content')
export class StoredContentController {
  constructor(private readonly content: DatabaseStoredContent) {}

  @Post('template')
  @HttpCode(200)
  @Access({ internal: true })
  async template(
    @Body() { account_id, name, version }: FindTemplateBody,
  ): Promise<{ content: PromptContent | null }> {
    return { content: await this.content.template(account_id, name, version ?? null) };
  }

  @Post('memories')
  @HttpCode(200)
  @Access({ internal: true })
  async memories(@Body() { account_id, end_user_hash, max }: FindMemoriesBody): Promise<{ texts: string[] }> {
    return { texts: await this.content.memories(account_id, end_user_hash, max) };
  }
}
