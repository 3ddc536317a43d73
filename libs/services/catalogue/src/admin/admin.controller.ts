import {
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  Inject,
  Param,
  Patch,
  Post,
  Put,
  Query,
  Req,
} from '@nestjs/common';
import {
  AdminModelsQuery,
  ApiError,
  FollowQuery,
  ImportCatalogueBody,
  PatchModelBody,
  PutModelBody,
  PutProviderBody,
  type AdminModelRecord,
  type Clock,
  type ModelView,
  type ProviderRecord,
} from '@gateway/contracts';
import { Access, CLOCK, type Page } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import { Availability } from '../availability/availability.js';
import { StoredRouteHealth } from '../health/stored-route-health.js';
import { ModelReads } from '../models/model-reads.js';
import { idOf } from '../models/models.controller.js';
import { OwnEntries } from '../own/own-entries.js';
import { CatalogueDatabase, type Tx } from '../postgres/catalogue-database.js';
import { feedLayer } from '../seed/feed-layer.js';
import { adminModel, listAdminModels } from './admin-models.js';
import { CatalogueWrites, type CatalogueImport, type PutProvider } from './catalogue-writes.js';

const BY_ID = ['models/:id', 'models/:brand/:name'];

/** Changes of the catalogue, for super admins. */
@Controller('v1/admin')
@Access({ superAdmin: true })
export class AdminController {
  constructor(
    private readonly writes: CatalogueWrites,
    private readonly models: ModelReads,
    private readonly database: CatalogueDatabase,
    private readonly health: StoredRouteHealth,
    private readonly own: OwnEntries,
    private readonly availability: Availability,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Lists every model with its routes and whether it can be called, disabled and retired ones too. */
  @Get('models')
  async listModels(@Query() query: AdminModelsQuery): Promise<Page<AdminModelRecord>> {
    return listAdminModels(this.database.prisma, query, await this.seen());
  }

  /** Reads a model with its routes and whether it can be called. */
  @Get(BY_ID)
  async model(@Param() path: Record<string, string>): Promise<AdminModelRecord> {
    const found = await adminModel(this.database.prisma, idOf(path), await this.seen());
    if (found === null) throw new ApiError('not_found');
    return found;
  }

  private async seen(): Promise<Parameters<typeof adminModel>[2]> {
    const release = { ...this.own.release(), nowMs: this.clock.now() };
    const layers = this.own.layers(await feedLayer(this.database.prisma));
    return { release, layers, isReady: (route) => this.availability.isReady(route) };
  }

  /** Adds a model or replaces it whole. */
  @Put(BY_ID)
  async putModel(
    @Param() path: Record<string, string>,
    @Body() body: PutModelBody,
    @Req() request: FastifyRequest,
  ): Promise<ModelView | { id: string; is_enabled: false }> {
    const id = idOf(path);
    await this.writes.putModel(id, body, request);
    const reader = { caller: null, apiVersion: request.apiVersion };
    // A model that no provider of this release serves is stored, and listed once one does.
    return this.models.find(reader, id) ?? { id, is_enabled: false };
  }

  /** Sets fields of a model or of its routes. The others stay, and follow the layers below. */
  @Patch(BY_ID)
  async patchModel(
    @Param() path: Record<string, string>,
    @Body() body: PatchModelBody,
    @Req() request: FastifyRequest,
  ): Promise<AdminModelRecord> {
    await this.writes.patchModel(idOf(path), body, request);
    return this.model(path);
  }

  /** Removes edits of a model: what lies below holds again, and is followed. */
  @Delete(BY_ID.map((path) => `${path}/edits`))
  async followModel(
    @Param() path: Record<string, string>,
    @Query() query: FollowQuery,
    @Req() request: FastifyRequest,
  ): Promise<AdminModelRecord> {
    await this.writes.follow(idOf(path), query, request);
    return this.model(path);
  }

  /** Takes a model out of the catalogue. */
  @Delete(BY_ID)
  @HttpCode(204)
  deleteModel(@Param() path: Record<string, string>, @Req() request: FastifyRequest): Promise<void> {
    return this.writes.deleteModel(idOf(path), request);
  }

  /** Lists every provider, disabled ones too. */
  @Get('providers')
  async providers(): Promise<{ data: ProviderRecord[] }> {
    return { data: await listProviders(this.database.prisma, this.health, this.availability) };
  }

  /** Adds a provider or replaces it whole. */
  @Put('providers/:slug')
  putProvider(
    @Param('slug') slug: string,
    @Body() body: PutProviderBody,
    @Req() request: FastifyRequest,
  ): Promise<PutProvider> {
    return this.writes.putProvider(slug, body, request);
  }

  /** Disables a provider: its routes leave the catalogue. */
  @Delete('providers/:slug')
  @HttpCode(204)
  deleteProvider(@Param('slug') slug: string, @Req() request: FastifyRequest): Promise<void> {
    return this.writes.deleteProvider(slug, request);
  }

  /** Sets the models that the body names, or all there shall be. A dry run answers what would change. */
  @Post('catalogue/import')
  @HttpCode(200)
  async import(@Body() body: ImportCatalogueBody, @Req() request: FastifyRequest): Promise<CatalogueImport> {
    return this.writes.import(body, request);
  }
}

/** Every provider, with how many routes it has and how it fares. There are some hundred: they are one page. */
async function listProviders(
  tx: Tx,
  health: StoredRouteHealth,
  availability: Availability,
): Promise<ProviderRecord[]> {
  const [rows, counted] = await Promise.all([
    tx.provider.findMany({ orderBy: { slug: 'asc' } }),
    tx.route.groupBy({ by: ['provider'], _count: true }),
  ]);
  const routes = new Map(counted.map(({ provider, _count }) => [provider, _count]));
  return rows.map(({ slug, name, dialects, regions, zero_retention, is_enabled }) => ({
    slug,
    name,
    dialects,
    regions,
    zero_retention,
    is_enabled,
    routes: routes.get(slug) ?? 0,
    has_credential: availability.hasOwnCredential(slug),
    ...health.of(slug),
    ...health.stateOf(slug),
  }));
}
