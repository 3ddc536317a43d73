import { canonicalJson } from '@gateway/json-body';
import type { Tx } from '../postgres/catalogue-database.js';
import { isoDay } from '../iso-day.js';
import { currentPrices, routeKey } from './current-prices.js';
import { knownModels } from './known-models.js';
import { editsBetween, MODEL_REMOVED, withEdits, type EditedModel } from './model-edits.js';
import type { Seed, SeedModel, SeedProvider, SeedRoute } from './seed-record.js';
import { putEdits, storedEdits, type StoredEdit } from './stored-edits.js';

/**
 * Makes the tables say what the seed says, with the edits of operators upon it, in the caller's transaction. A seed whose
 * digest was imported last changes nothing. Prices are only ever added: one that changed becomes the last of its route.
 * @returns whether anything was written.
 */
export async function importSeed(tx: Tx, seed: Seed, now: Date): Promise<boolean> {
  const isSplit = await splitFrozen(tx, seed, now);
  const last = await tx.seed.findUnique({ where: { id: 1 } });
  if (last?.digest === seed.digest && !isSplit) return false;

  await tx.route.deleteMany();
  await tx.model.deleteMany();
  await tx.brand.createMany({
    data: seed.brands.map(({ slug, name }) => ({ slug, name })),
    skipDuplicates: true,
  });
  for (const { slug, name } of seed.brands) await tx.brand.update({ where: { slug }, data: { name } });
  await importProviders(tx, seed.providers);
  await writeModels(tx, seed.models, now);
  const stamp = { digest: seed.digest, imported_at: now };
  await tx.seed.upsert({ where: { id: 1 }, create: { id: 1, ...stamp }, update: stamp });
  return true;
}

/** A provider is written whole: one that an administrator has made different stays, one that is equal follows. */
async function importProviders(tx: Tx, providers: readonly SeedProvider[]): Promise<void> {
  const known = new Map(providers.map((provider) => [provider.slug, providerRow(provider)]));
  const edited = await tx.provider.findMany({ where: { is_edited: true } });
  const kept = edited.filter(({ is_edited: _edited, ...row }) => {
    const below = known.get(row.slug);
    return below === undefined || canonicalJson({ ...below, is_enabled: true }) !== canonicalJson(row);
  });
  const slugs = kept.map(({ slug }) => slug);
  await tx.provider.deleteMany({ where: { slug: { notIn: slugs } } });
  await tx.provider.createMany({ data: [...known.values()].filter(({ slug }) => !slugs.includes(slug)) });
}

/**
 * Turns rows that a former release froze whole into edits of what differs from the layers below. A row that is equal has
 * none, and follows again.
 * @returns whether there was any.
 */
async function splitFrozen(tx: Tx, seed: Seed, now: Date): Promise<boolean> {
  const split = await storedEdits(tx);
  const marked = await tx.model.findMany({
    where: { is_edited: true },
    select: { id: true, is_enabled: true },
  });
  const frozen = marked.filter(({ id }) => !split.has(id));
  if (frozen.length === 0) return false;
  const below = new Map(seed.models.map((model) => [model.id, model]));
  const known = await knownModels(tx, { is_edited: true });
  const edits = frozen.map(({ id, is_enabled }) => {
    const model = known.get(id);
    const made = model === undefined ? [] : editsBetween(below.get(id) ?? null, model);
    return [id, is_enabled ? made : [...made, MODEL_REMOVED]] as const;
  });
  await putEdits(tx, new Map(edits), { now, by: null });
  return true;
}

/** Writes these models again as their layers and edits have them now, with their routes and prices. */
export async function rewriteModels(
  tx: Tx,
  ids: readonly string[],
  below: readonly SeedModel[],
  now: Date,
): Promise<void> {
  const own = new Set(ids);
  await tx.route.deleteMany({ where: { model_id: { in: [...ids] } } });
  await tx.model.deleteMany({ where: { id: { in: [...ids] } } });
  await writeModels(
    tx,
    below.filter(({ id }) => own.has(id)),
    now,
    ids,
  );
}

/** Adds models with the edits of operators upon them; there are no rows of these ids. */
async function writeModels(
  tx: Tx,
  below: readonly SeedModel[],
  now: Date,
  ids?: readonly string[],
): Promise<void> {
  const edits = await storedEdits(tx, ids);
  const edited = editedModels(below, edits);
  const models = edited.map(({ model }) => model);
  const brands = [...new Set(models.map(({ brand }) => brand))];
  await tx.brand.createMany({ data: brands.map((slug) => ({ slug, name: slug })), skipDuplicates: true });
  await tx.model.createMany({
    data: edited.map(({ model, isHidden }) => ({
      ...modelRow(model),
      is_enabled: !isHidden,
      is_edited: edits.has(model.id),
    })),
  });
  await tx.route.createMany({
    data: models.flatMap((model) => model.routes.map((route) => routeRow(model, route))),
  });
  await addChangedPrices(tx, models, now);
}

function editedModels(
  below: readonly SeedModel[],
  edits: ReadonlyMap<string, StoredEdit[]>,
): readonly EditedModel[] {
  const known = new Set(below.map(({ id }) => id));
  const others = [...edits].flatMap(([id, own]) => (known.has(id) ? [] : (withEdits(id, null, own) ?? [])));
  return [
    ...below.map((model) => {
      const own = edits.get(model.id);
      return (own && withEdits(model.id, model, own)) ?? { model, isHidden: false };
    }),
    ...others,
  ];
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
    successor: model.successor ?? null,
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
    regions: route.regions ?? [],
    zero_retention: route.zero_retention ?? null,
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
