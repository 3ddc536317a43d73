import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiError, ConversationBody, ConversationItemsBody, ItemsQuery } from '@gateway/contracts';
import { invalidBody, itemsFault } from '@gateway/dialects';
import { Access, closingOf, Pressure, principalOf, withMemory, type MemoryBudget } from '@gateway/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { checkedMetadata } from '../checked-metadata.js';
import { itemsPage, listedItem, listOf, type ItemsPage } from '../responses/items-page.js';
import { keyOf } from '../responses/responses.controller.js';
import { ConversationStore, type Conversation } from './conversations.store.js';

type Json = Record<string, unknown>;

/** Conversations that requests to /v1/responses go on, for the key that made them. */
@Controller(['v1/conversations', 'openai/v1/conversations'])
@Access({ key: { permission: 'inference:write' } })
export class ConversationsController {
  constructor(
    private readonly conversations: ConversationStore,
    private readonly pressure: Pressure,
  ) {}

  /** Creates a conversation. */
  @Post()
  @HttpCode(200)
  create(
    @Body() { items, metadata }: ConversationBody,
    @Req() request: FastifyRequest,
  ): Promise<Conversation> {
    const { accountId } = principalOf(request) as { accountId: string };
    const owner = { keyId: keyOf(request), accountId };
    return this.conversations.create(owner, checkedMetadata(metadata ?? {}), checkedItems(items ?? []));
  }

  /** Reads a conversation. */
  @Get(':id')
  async read(@Param('id') id: string, @Req() request: FastifyRequest): Promise<Conversation> {
    return found(await this.conversations.read(keyOf(request), id), id);
  }

  /** Replaces the metadata of a conversation. */
  @Post(':id')
  @HttpCode(200)
  async update(
    @Param('id') id: string,
    @Body() { metadata }: ConversationBody,
    @Req() request: FastifyRequest,
  ): Promise<Conversation> {
    return found(await this.conversations.update(keyOf(request), id, checkedMetadata(metadata ?? {})), id);
  }

  /** Deletes a conversation. */
  @Delete(':id')
  async remove(
    @Param('id') id: string,
    @Req() request: FastifyRequest,
  ): Promise<{ id: string; object: 'conversation.deleted'; deleted: true }> {
    if (!(await this.conversations.remove(keyOf(request), id))) throw unknown(id);
    return { id, object: 'conversation.deleted', deleted: true };
  }

  /** Lists the items of a conversation. */
  @Get(':id/items')
  async items(
    @Param('id') id: string,
    @Query() query: ItemsQuery,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) { raw }: FastifyReply,
  ): Promise<ItemsPage> {
    await this.read(id, request);
    const { items, has_more } = await withMemory(this.remainingOf(request), closingOf(raw), (reserveMemory) =>
      this.conversations.page(keyOf(request), id, query, reserveMemory),
    );
    return listOf(items, has_more);
  }

  /** Adds items to a conversation. */
  @Post(':id/items')
  @HttpCode(200)
  async add(
    @Param('id') id: string,
    @Body() { items }: ConversationItemsBody,
    @Req() request: FastifyRequest,
  ): Promise<ItemsPage> {
    await this.read(id, request);
    const added = await this.conversations.add(keyOf(request), id, checkedItems(items));
    return itemsPage(added, { order: 'asc', limit: 100 });
  }

  /** Reads an item of a conversation. */
  @Get(':id/items/:item')
  async item(
    @Param('id') id: string,
    @Param('item') itemId: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) { raw }: FastifyReply,
  ): Promise<Json> {
    const item = await withMemory(this.remainingOf(request), closingOf(raw), (reserveMemory) =>
      this.conversations.item(keyOf(request), id, itemId, reserveMemory),
    );
    return listedItem(found(item, itemId));
  }

  private remainingOf(request: FastifyRequest): MemoryBudget {
    return this.pressure.ofAccount(principalOf(request).accountId);
  }

  /** Deletes an item of a conversation. */
  @Delete(':id/items/:item')
  async removeItem(
    @Param('id') id: string,
    @Param('item') itemId: string,
    @Req() request: FastifyRequest,
  ): Promise<Conversation> {
    const conversation = await this.read(id, request);
    if (!(await this.conversations.removeItem(keyOf(request), id, itemId))) throw unknown(itemId);
    return conversation;
  }
}

/** Items as later requests read them: one that they would refuse makes the conversation useless. Throws `validation_error`. */
function checkedItems(items: Json[]): Json[] {
  const fault = itemsFault(items, 'items');
  if (fault !== null) throw invalidBody(fault);
  return items;
}

function found<T>(value: T | null, id: string): T {
  if (value === null) throw unknown(id);
  return value;
}

function unknown(id: string): ApiError {
  return new ApiError('resource_not_found', { message: `Nothing with id ${id.slice(0, 80)} was found.` });
}
