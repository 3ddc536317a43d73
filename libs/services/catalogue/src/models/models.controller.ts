import { Controller, Get, Param, Query, Req } from '@nestjs/common';
import { ListModelsQuery } from '@gateway/contracts';
import { Access, principalOf, type AccessRule } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import { ModelReads, wireRecord } from './model-reads.js';

type Wire = Readonly<Record<string, unknown>>;

const MODELS_ACCESS: AccessRule = { key: { permission: 'models:read' }, session: true };

/** An id has one slash, sent as it is or encoded; a name without its brand has none. */
const BY_ID = ['models/:id', 'models/:brand/:name'];

/** The spec's own shape: a bare array. */
@Controller('v1')
@Access(MODELS_ACCESS)
export class ModelsController {
  constructor(private readonly models: ModelReads) {}

  @Get('models')
  list(@Query() query: ListModelsQuery, @Req() request: FastifyRequest): Wire[] {
    return this.models
      .list(principalOf(request), query)
      .map((model) => wireRecord(model, request.apiVersion));
  }

  @Get(BY_ID)
  one(@Param() path: Record<string, string>, @Req() request: FastifyRequest): Wire {
    return wireRecord(this.models.one(principalOf(request), idOf(path)), request.apiVersion);
  }
}

/** OpenAI's shape of the same: its SDKs read `data`. */
@Controller('openai/v1')
@Access(MODELS_ACCESS)
export class OpenAiModelsController {
  constructor(private readonly models: ModelReads) {}

  @Get('models')
  list(@Query() query: ListModelsQuery, @Req() request: FastifyRequest): Wire {
    const models = this.models.list(principalOf(request), query);
    return { object: 'list', data: models.map((model) => openAiRecord(model, request.apiVersion)) };
  }

  @Get(BY_ID)
  one(@Param() path: Record<string, string>, @Req() request: FastifyRequest): Wire {
    return openAiRecord(this.models.one(principalOf(request), idOf(path)), request.apiVersion);
  }
}

function openAiRecord(model: Parameters<typeof wireRecord>[0], apiVersion: string): Wire {
  const { id, brand } = model.record;
  const created = model.released == null ? 0 : Date.parse(`${model.released}T00:00:00Z`) / 1000;
  return { id, object: 'model', created, owned_by: brand, ...wireRecord(model, apiVersion) };
}

function idOf({ id, brand, name }: Record<string, string>): string {
  return id ?? `${brand}/${name}`;
}
