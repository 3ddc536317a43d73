import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { CatalogueModel, CatalogueSnapshot, ModelType, ReasoningStyle } from '@gateway/contracts';
import type { Model as ModelRow } from '../generated/prisma/client.js';
import { isoDay } from '../iso-day.js';
import type { Tx } from '../postgres/catalogue-database.js';
import { currentPrices, routeKey } from '../seed/current-prices.js';
import {
  catalogueModel,
  compositeModel,
  type Release,
  type StoredModel,
  type StoredRoute,
} from './catalogue-model.js';
import { routeRegions } from './route-regions.js';

const MAX_BYTES = 256 * 1024 * 1024;
const zip = promisify(gzip);
const unzip = promisify(gunzip);

export type SnapshotContent = Pick<CatalogueSnapshot, 'models' | 'providers' | 'brands'>;

/** Names a stored snapshot without reading it. */
export interface SnapshotName {
  id: string;
  digest: string;
}

/** All enabled models by id, from the tables. Equal tables and an equal release make an equal content. */
export async function buildContent(tx: Tx, release: Release): Promise<SnapshotContent> {
  const rows = await tx.model.findMany({ where: { is_enabled: true }, orderBy: { id: 'asc' } });
  const providers = await tx.provider.findMany({ where: { is_enabled: true }, orderBy: { slug: 'asc' } });
  const brands = await tx.brand.findMany({ orderBy: { slug: 'asc' } });
  const routesOf = await storedRoutes(tx, providers);
  const stored = rows.map(toStored);
  const enabled = new Map<string, CatalogueModel>();
  for (const model of stored) {
    const made = catalogueModel(model, routesOf.get(model.id) ?? [], release);
    if (made !== null) enabled.set(model.id, made);
  }
  const composites = stored
    .filter(({ composite_models: members }) => members.length > 0)
    .flatMap((model) => compositeModel(model, enabled, release) ?? []);
  const models = [...enabled.values(), ...composites].sort((a, b) => (a.record.id < b.record.id ? -1 : 1));
  const serving = new Set(models.flatMap(({ routes }) => routes.map(({ provider }) => provider)));
  const named = new Set(models.map(({ record }) => record.brand));
  return {
    models,
    providers: providers.filter(({ slug }) => serving.has(slug)).map(({ slug, name }) => ({ slug, name })),
    brands: brands.filter(({ slug }) => named.has(slug)).map(({ slug, name }) => ({ slug, name })),
  };
}

/** A row as a stored model: its columns were checked when they were written. */
export function toStored(row: ModelRow): StoredModel {
  return {
    ...row,
    model_type: row.model_type as ModelType,
    reasoning: row.reasoning as unknown as ReasoningStyle,
    released: row.released === null ? null : isoDay(row.released),
  };
}

interface ProviderRow {
  slug: string;
  regions: string[];
  zero_retention: boolean | null;
}

/** Routes of these providers by model, each with the price that applies. */
export async function storedRoutes(
  tx: Tx,
  providers: readonly ProviderRow[],
): Promise<ReadonlyMap<string, StoredRoute[]>> {
  const prices = new Map((await currentPrices(tx)).map((price) => [routeKey(price.model_id, price), price]));
  const known = new Map(providers.map((provider) => [provider.slug, provider]));
  const found = new Map<string, StoredRoute[]>();
  for (const route of await tx.route.findMany()) {
    const provider = known.get(route.provider);
    if (provider === undefined) continue;
    const price = prices.get(routeKey(route.model_id, route));
    if (price === undefined) throw new Error(`${route.model_id} has no price at ${route.provider}.`);
    const of = found.get(route.model_id) ?? [];
    found.set(route.model_id, of);
    of.push({
      provider: route.provider,
      upstream_model: route.upstream_model,
      dialect: route.dialect,
      context_length: route.context_length,
      max_output_tokens: route.max_output_tokens,
      effective_date: isoDay(price.effective_date),
      retires_at: route.retires_at === null ? null : isoDay(route.retires_at),
      regions: routeRegions(route, provider.regions),
      zero_retention: route.zero_retention ?? provider.zero_retention,
      price: price.record,
      source: route.source,
      source_date: isoDay(route.source_date),
    });
  }
  for (const routes of found.values()) routes.sort(byTarget);
  return found;
}

export async function newestSnapshot(tx: Tx): Promise<SnapshotName | null> {
  return tx.snapshot.findFirst({ orderBy: { position: 'desc' }, select: { id: true, digest: true } });
}

/** null where no snapshot has this id. */
export async function readSnapshot(tx: Tx, id: string): Promise<CatalogueSnapshot | null> {
  const row = await tx.snapshot.findUnique({ where: { id } });
  if (row === null) return null;
  const bytes = await unzip(row.content, { maxOutputLength: MAX_BYTES });
  const content = JSON.parse(bytes.toString('utf8')) as SnapshotContent;
  return deepFrozen({ id: row.id, created_at: row.created_at.toISOString(), ...content });
}

export async function insertSnapshot(
  tx: Tx,
  snapshot: { id: string; createdAt: Date; content: SnapshotContent },
): Promise<void> {
  const { id, createdAt, content } = snapshot;
  const bytes = await zip(JSON.stringify(content));
  await tx.snapshot.create({
    data: { id, created_at: createdAt, digest: digestOf(content), content: new Uint8Array(bytes) },
  });
}

/** Returns the digest of the text: members are always written in one order, because one function makes them. */
export function digestOf(content: SnapshotContent): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}

function byTarget(a: StoredRoute, b: StoredRoute): number {
  return `${a.provider} ${a.upstream_model}` < `${b.provider} ${b.upstream_model}` ? -1 : 1;
}

/** A snapshot is shared by every request: nobody may change it. */
function deepFrozen<T extends object>(value: T): T {
  for (const member of Object.values(value) as unknown[]) {
    if (typeof member === 'object' && member !== null && !Object.isFrozen(member)) deepFrozen(member);
  }
  return Object.freeze(value);
}
