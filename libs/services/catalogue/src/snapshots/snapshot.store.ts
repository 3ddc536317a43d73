import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { CatalogueSnapshot, ModelType, ReasoningStyle } from '@gateway/contracts';
import type { Tx } from '../postgres/catalogue-database.js';
import { currentPrices, routeKey } from '../seed/seed-import.js';
import { catalogueModel, type Adapters, type StoredRoute } from './catalogue-model.js';

const MAX_BYTES = 256 * 1024 * 1024;
const zip = promisify(gzip);
const unzip = promisify(gunzip);

export type SnapshotContent = Pick<CatalogueSnapshot, 'models' | 'providers'>;

/** Names a stored snapshot without reading it. */
export interface SnapshotName {
  id: string;
  digest: string;
}

/** All enabled models by id, from the tables. Equal tables and adapters make an equal content. */
export async function buildContent(tx: Tx, adapters: Adapters): Promise<SnapshotContent> {
  const [models, routes, providers, prices] = [
    await tx.model.findMany(),
    await tx.route.findMany(),
    await tx.provider.findMany(),
    await currentPrices(tx),
  ];
  const priceOf = new Map(prices.map((price) => [routeKey(price.model_id, price), price]));
  const routesOf = new Map<string, StoredRoute[]>();
  for (const route of routes) {
    const price = priceOf.get(routeKey(route.model_id, route));
    if (price === undefined) throw new Error(`${route.model_id} has no price at ${route.provider}.`);
    const stored: StoredRoute = {
      provider: route.provider,
      upstream_model: route.upstream_model,
      // Both columns were checked when they were imported.
      dialect: route.dialect,
      context_length: route.context_length,
      max_output_tokens: route.max_output_tokens,
      effective_date: dayOf(price.effective_date),
      price: price.record,
    };
    const known = routesOf.get(route.model_id);
    if (known === undefined) routesOf.set(route.model_id, [stored]);
    else known.push(stored);
  }
  const enabled = models.flatMap((model) => {
    const stored = {
      ...model,
      model_type: model.model_type as ModelType,
      reasoning: model.reasoning as unknown as ReasoningStyle,
      released: model.released === null ? null : dayOf(model.released),
    };
    const ordered = (routesOf.get(model.id) ?? []).sort(byTarget);
    return catalogueModel(stored, ordered, adapters) ?? [];
  });
  const serving = new Set(enabled.flatMap(({ routes: own }) => own.map(({ provider }) => provider)));
  return {
    models: enabled.sort((a, b) => (a.record.id < b.record.id ? -1 : 1)),
    providers: providers
      .filter(({ slug }) => serving.has(slug))
      .map(({ slug, name }) => ({ slug, name }))
      .sort((a, b) => (a.slug < b.slug ? -1 : 1)),
  };
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

/** Of the text: members are always written in one order, because one function makes them. */
export function digestOf(content: SnapshotContent): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}

function byTarget(a: StoredRoute, b: StoredRoute): number {
  return `${a.provider} ${a.upstream_model}` < `${b.provider} ${b.upstream_model}` ? -1 : 1;
}

function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}

/** A snapshot is shared by every request: nobody may change it. */
function deepFrozen<T extends object>(value: T): T {
  for (const member of Object.values(value) as unknown[]) {
    if (typeof member === 'object' && member !== null && !Object.isFrozen(member)) deepFrozen(member);
  }
  return Object.freeze(value);
}
