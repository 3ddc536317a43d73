import { Controller, Get, Param, Query, Req } from '@nestjs/common';
import {
  ApiError,
  CataloguePageQuery,
  ListModelPageQuery,
  ListModelsQuery,
  ModelProvidersQuery,
  SearchModelsQuery,
  type AnthropicModelInfo,
  type AnthropicModelList,
  type CatalogueModel,
  type ModelView,
  type OpenAiModel,
  type PriceStep,
  type ProviderOffer,
} from '@gateway/contracts';
import { Access, principalOf, type AccessRule, type Page } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import { ModelReads, type FoundModels, type PinnableProvider, type Reader } from './model-reads.js';
import type { ModelNow } from './prices-now.js';
import { PriceHistory } from './price-history.js';

const MODELS_ACCESS: AccessRule = { key: { permission: 'models:read' }, session: true };

/** An id has one slash, sent as it is or encoded; a name without its brand has none. */
const BY_ID = ['models/:id', 'models/:brand/:name'];
const PROVIDERS_BY_ID = BY_ID.map((path) => `${path}/providers`);

/** The spec's own shape: a bare array. */
@Controller('v1')
@Access(MODELS_ACCESS)
export class ModelsController {
  constructor(
    private readonly models: ModelReads,
    private readonly prices: PriceHistory,
  ) {}

  /**
   * Lists the models that the caller may call. To requests with anthropic-version in the shape of Anthropic, to those of
   * OpenAI's SDKs (x-stainless-lang) in the shape of OpenAI.
   */
  @Get('models')
  list(
    @Query() query: ListModelPageQuery,
    @Req() request: FastifyRequest,
  ): AnthropicModelList | OpenAiModelList | ModelView[] {
    const reader = readerOf(request);
    const { page, hasMore } = modelPage(this.models.callable(reader.caller, query), query);
    switch (shapeFor(request)) {
      case 'anthropic':
        return anthropicList(page, hasMore);
      case 'openai':
        return openAiList(page, reader, this.models);
      default:
        return page.map((model) => this.models.view(reader, model));
    }
  }

  /** Searches models, and counts what those that were found have. */
  @Get('models/search')
  search(@Query() query: SearchModelsQuery, @Req() request: FastifyRequest): FoundModels {
    return this.models.search(readerOf(request), query);
  }

  /** Lists the providers of a model, with the price of each. */
  @Get(PROVIDERS_BY_ID)
  providersOf(
    @Param() path: Record<string, string>,
    @Query() query: ModelProvidersQuery,
    @Req() request: FastifyRequest,
  ): Page<ProviderOffer> {
    return this.models.providersOf(readerOf(request), idOf(path), query);
  }

  /** Lists every price that a model had, newest first. */
  @Get(BY_ID.map((path) => `${path}/price-history`))
  async priceHistory(
    @Param() path: Record<string, string>,
    @Req() request: FastifyRequest,
  ): Promise<{ data: PriceStep[] }> {
    const { record } = this.models.one(principalOf(request), idOf(path));
    return { data: await this.prices.of(record.id) };
  }

  /** Reads a model. In the shape of Anthropic or OpenAI to the callers that the list answers so. */
  @Get(BY_ID)
  one(
    @Param() path: Record<string, string>,
    @Req() request: FastifyRequest,
  ): AnthropicModelInfo | OpenAiModel | ModelView {
    const reader = readerOf(request);
    const shape = shapeFor(request);
    if (shape === null) return this.models.record(reader, idOf(path));
    const model = this.models.one(reader.caller, idOf(path));
    return shape === 'anthropic' ? anthropicRecord(model) : openAiRecord(model, reader, this.models);
  }

  /** Lists the providers that a key can be pinned to. */
  @Get('providers/pinnable')
  pinnable(@Query() page: CataloguePageQuery, @Req() request: FastifyRequest): Page<PinnableProvider> {
    return this.models.pinnable(principalOf(request), page);
  }

  /** Lists the models that a provider serves. */
  @Get('providers/:provider/models')
  ofProvider(
    @Param('provider') provider: string,
    @Query() page: CataloguePageQuery,
    @Req() request: FastifyRequest,
  ): Page<ModelView> {
    return this.models.ofProvider(readerOf(request), provider, page);
  }
}

/** OpenAI's shape of the same: its SDKs read `data`. */
@Controller('openai/v1')
@Access(MODELS_ACCESS)
export class OpenAiModelsController {
  constructor(private readonly models: ModelReads) {}

  /** Lists the models that the caller may call, in the shape of OpenAI. */
  @Get('models')
  list(@Query() query: ListModelsQuery, @Req() request: FastifyRequest): OpenAiModelList {
    const reader = readerOf(request);
    return openAiList(this.models.callable(reader.caller, query), reader, this.models);
  }

  /** Reads a model, in the shape of OpenAI. */
  @Get(BY_ID)
  one(@Param() path: Record<string, string>, @Req() request: FastifyRequest): OpenAiModel {
    const reader = readerOf(request);
    return openAiRecord(this.models.one(reader.caller, idOf(path)), reader, this.models);
  }
}

/** Returns the maker whose SDK asks: Anthropic's send their version, OpenAI's their language; null for any other caller. */
function shapeFor({ headers }: FastifyRequest): 'anthropic' | 'openai' | null {
  if (headers['anthropic-version'] !== undefined) return 'anthropic';
  return headers['x-stainless-lang'] === undefined ? null : 'openai';
}

interface OpenAiModelList {
  object: 'list';
  data: OpenAiModel[];
}

function openAiList(models: readonly ModelNow[], reader: Reader, reads: ModelReads): OpenAiModelList {
  return { object: 'list', data: models.map((model) => openAiRecord(model, reader, reads)) };
}

function readerOf(request: FastifyRequest): Reader {
  return { caller: principalOf(request), apiVersion: request.apiVersion };
}

interface ModelPage {
  page: CatalogueModel[];
  /** True if more follow in the direction of reading: after the page, before it where `before_id` is alone. */
  hasMore: boolean;
}

/** Throws ApiError `validation_error` for a model that is not in the list. */
function modelPage(
  models: CatalogueModel[],
  { limit = models.length, after_id, before_id }: ListModelPageQuery,
): ModelPage {
  const start = after_id === undefined ? 0 : placeOf('after_id', after_id, models) + 1;
  const end = before_id === undefined ? models.length : placeOf('before_id', before_id, models);
  const isBackwards = before_id !== undefined && after_id === undefined;
  const [from, to] = isBackwards ? [Math.max(0, end - limit), end] : [start, Math.min(end, start + limit)];
  return { page: models.slice(from, to), hasMore: isBackwards ? from > 0 : to < end };
}

function placeOf(param: string, id: string, models: readonly CatalogueModel[]): number {
  const place = models.findIndex(({ record }) => record.id === id);
  if (place !== -1) return place;
  const msg = 'No model of this list has this id.';
  throw new ApiError('validation_error', {
    message: `${param}: ${msg}`,
    param,
    details: [{ type: 'unknown_reference', loc: [param], msg }],
  });
}

function openAiRecord(model: ModelNow, reader: Reader, reads: ModelReads): OpenAiModel {
  const { brand } = model.record;
  const created = publishedMs(model) / 1000;
  return { object: 'model', created, owned_by: brand, ...reads.view(reader, model) };
}

/** Returns the list for Anthropic's SDKs, which send `anthropic-version` with every request. */
function anthropicList(models: readonly CatalogueModel[], hasMore: boolean): AnthropicModelList {
  const data = models.map(anthropicRecord);
  return { data, has_more: hasMore, first_id: data.at(0)?.id ?? null, last_id: data.at(-1)?.id ?? null };
}

function anthropicRecord(model: CatalogueModel): AnthropicModelInfo {
  const { id, name, context_length, max_output_tokens, retires_at: day = null } = model.record;
  return {
    type: 'model',
    id,
    display_name: name,
    created_at: new Date(publishedMs(model)).toISOString(),
    max_input_tokens: context_length,
    max_tokens: max_output_tokens,
    // What is retired is not listed.
    lifecycle: day === null ? 'active' : 'deprecated',
    retires_at: day === null ? null : `${day}T00:00:00.000Z`,
  };
}

/** 0 where it is not known. */
function publishedMs({ released }: CatalogueModel): number {
  return released == null ? 0 : Date.parse(`${released}T00:00:00Z`);
}

export function idOf({ id, brand, name }: Record<string, string>): string {
  return id ?? `${brand}/${name}`;
}
