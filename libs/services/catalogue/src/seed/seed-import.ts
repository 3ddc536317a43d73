import { canonicalJson } from '@gateway/json-body';
import type { Tx } from '../postgres/catalogue-database.js';
import { isoDay } from '../iso-day.js';
import { changedFields } from './changed-fields.js';
import { currentPrices, routeKey } from './current-prices.js';
import { knownModels } from './known-models.js';
import type { Seed, SeedModel, SeedProvider, SeedRoute } from './seed-record.js';

/**
 * Makes the tables say what the seed says, in the caller's transaction. A seed whose digest was imported last changes
 * nothing. No seed changes a row that an administrator has written, unless the row is equal to the seed's: such a row
 * follows the seed again. Prices are only ever added: one that changed becomes the last of its route.
 * @returns whether anything was written.
 */
export async function importSeed(tx: Tx, seed: Seed, now: Date): Promise<boolean> {
  const last = await tx.seed.findUnique({ where: { id: 1 } });
  if (last?.digest === seed.digest) return false;

  await followEqual(tx, seed.models, await editedModels(tx));
  const edited = new Set((await tx.model.findMany({ where: { is_edited: true } })).map(({ id }) => id));
  const kept = new Set((await tx.provider.findMany({ where: { is_edited: true } })).map(({ slug }) => slug));
  await tx.route.deleteMany({ where: { model_id: { notIn: [...edited] } } });
  await tx.model.deleteMany({ where: { is_edited: false } });
  await tx.provider.deleteMany({ where: { is_edited: false } });
  await tx.brand.createMany({
    data: seed.brands.map(({ slug, name }) => ({ slug, name })),
    skipDuplicates: true,
  });
  for (const { slug, name } of seed.brands) await tx.brand.update({ where: { slug }, data: { name } });
  await tx.provider.createMany({
    data: seed.providers.filter(({ slug }) => !kept.has(slug)).map(providerRow),
  });
  await writeModels(
    tx,
    seed.models.filter(({ id }) => !edited.has(id)),
    now,
  );
  const stamp = { digest: seed.digest, imported_at: now };
  await tx.seed.upsert({ where: { id: 1 }, create: { id: 1, ...stamp }, update: stamp });
  return true;
}

/** Models that are as the seed has them follow its next data, as if nobody had edited them. */
export async function followEqual(
  tx: Tx,
  seed: readonly SeedModel[],
  models: readonly SeedModel[],
): Promise<void> {
  if (models.length === 0) return;
  const ofSeed = new Map(seed.map((model) => [model.id, model]));
  const equal = models.filter((model) => {
    const known = ofSeed.get(model.id);
    return known !== undefined && changedFields(known, model).length === 0;
  });
  await tx.model.updateMany({
    where: { id: { in: equal.map(({ id }) => id) } },
    data: { is_edited: false },
  });
}

async function editedModels(tx: Tx): Promise<SeedModel[]> {
  const where = { is_edited: true, is_enabled: true };
  const rows = await tx.model.findMany({ where, select: { id: true } });
  if (rows.length === 0) return [];
  const known = await knownModels(tx);
  return rows.flatMap(({ id }) => known.get(id) ?? []);
}

/** Adds models with their routes and prices; there are none of these ids. */
export async function writeModels(
  tx: Tx,
  models: readonly SeedModel[],
  now: Date,
  marks: { is_edited?: boolean } = {},
): Promise<void> {
  await tx.model.createMany({ data: models.map((model) => ({ ...modelRow(model), ...marks })) });
  await tx.route.createMany({
    data: models.flatMap((model) => model.routes.map((route) => routeRow(model, route))),
  });
  await addChangedPrices(tx, models, now);
}

function providerRow(provider: SeedProvider) {
  return {
    slug: provider.slug,
    name: provider.name,
    dialects: provider.dialects,
    logo: provider.logo,
    regions: provider.regions ?? [],
    zero_retention: provider.zero_retention ?? null,
  };
}

function modelRow(model: SeedModel) {
  const lacks = new Set(model.lacks);
  const flags = new Set([...model.supports, 'system_prompt']);
  return {
    id: model.id,
    name: model.name,
    brand: model.brand,
    model_type: model.model_type,
    context_length: model.context_length,
    max_output_tokens: model.max_output_tokens ?? null,
    input_modalities: model.input_modalities,
    output_modalities: model.output_modalities,
    supports: [...flags].filter((flag) => !lacks.has(flag)).sort(),
    reasoning: { ...model.reasoning },
    fixes_sampling: model.fixes_sampling ?? false,
    released: model.released === undefined ? null : day(model.released),
    description: model.description ?? null,
    composite_models: model.composite_models ?? [],
  };
}

function routeRow(model: SeedModel, route: SeedRoute) {
  return {
    model_id: model.id,
    provider: route.provider,
    upstream_model: route.upstream_model,
    dialect: route.dialect,
    context_length: route.context_length ?? model.context_length,
    max_output_tokens: route.max_output_tokens ?? model.max_output_tokens ?? null,
    source: route.source,
    source_date: day(route.source_date),
    retires_at: route.retires_at === undefined ? null : day(route.retires_at),
  };
}

async function addChangedPrices(tx: Tx, models: readonly SeedModel[], now: Date): Promise<void> {
  const known = new Map(
    (await currentPrices(tx)).map((price) => [routeKey(price.model_id, price), priceText(price)]),
  );
  const prices = models.flatMap((model) =>
    model.routes.map((route) => ({
      model_id: model.id,
      provider: route.provider,
      upstream_model: route.upstream_model,
      effective_date: day(route.effective_date),
      record: { ...route.price } as Record<string, never>,
      created_at: now,
    })),
  );
  const changed = prices.filter((price) => known.get(routeKey(price.model_id, price)) !== priceText(price));
  await tx.price.createMany({ data: changed });
}

function priceText({ effective_date, record }: { effective_date: Date; record: object }): string {
  return canonicalJson([isoDay(effective_date), record]);
}

function day(text: string): Date {
  return new Date(`${text}T00:00:00Z`);
}
