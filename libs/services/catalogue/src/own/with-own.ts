import { createHash } from 'node:crypto';
import type { ModelType, PriceRecord } from '@gateway/contracts';
import {
  GatewayConfigError,
  isBuiltIn,
  type GatewayFile,
  type OwnModel,
  type OwnRoute,
} from '@gateway/providers';
import { reasoningOf } from '../seed/reasoning-of.js';
import { referenceFaults } from '../seed/read-seed.js';
import { unknownWords } from '../snapshots/unknown-words.js';
import type { Seed, SeedModel, SeedProvider, SeedRoute } from '../seed/seed-record.js';

/** Prices of a file hold since ever: its history is the operator's own. */
const SINCE = '1970-01-01';
const SOURCE = 'GATEWAY_CONFIG';
export const FREE: PriceRecord = {
  pricing_unit: 'per_1m_tokens',
  prompt_usd_per_1m: '0',
  completion_usd_per_1m: '0',
  is_free: true,
};

/**
 * The seed with the operator's own providers, models and prices: a model of the file replaces the seed's of that id.
 * @throws GatewayConfigError with a sentence per fault.
 */
export function withOwn(seed: Seed, file: GatewayFile, discovered: readonly SeedModel[] = []): Seed {
  const { providers, models, prices } = file.config;
  const faults = [...file.faults];
  if (providers.length + models.length + prices.length + discovered.length + faults.length === 0) return seed;
  const dialects = new Map(providers.map(({ slug, dialect = 'chat' }) => [slug, dialect]));
  const own = models.map((model) => seedModel(model, dialects));
  const ids = new Set(own.map(({ id }) => id));
  const found = discovered.filter(({ id }) => !ids.has(id));
  for (const { id } of found) ids.add(id);
  const kept = seed.models.filter(({ id }) => !ids.has(id));
  const all = [...overridden(kept, file, faults), ...own, ...found];
  const known = new Set(seed.brands.map(({ slug }) => slug));
  const brands = [...new Set([...own, ...found].map(({ brand }) => brand))].filter(
    (slug) => !known.has(slug),
  );
  const slugs = new Set(seed.providers.map(({ slug }) => slug));
  const added: SeedProvider[] = [
    ...providers.map(({ slug, name, dialect = 'chat' }) => ({ slug, name, dialect })),
  ]
    .concat(
      found.flatMap(({ routes }) =>
        routes.map(({ provider, dialect }) => ({ slug: provider, name: undefined, dialect })),
      ),
    )
    .filter(({ slug }, at, list) => !slugs.has(slug) && list.findIndex((one) => one.slug === slug) === at)
    .map(({ slug, name = slug, dialect }) => ({
      slug,
      name,
      dialects: [dialect],
      base_url: null,
      env: {},
      logo: null,
    }));
  const merged = {
    brands: [...seed.brands, ...brands.map((slug) => ({ slug, name: slug }))],
    providers: [...seed.providers, ...added],
    models: all,
  };
  faults.push(...mergedFaults(merged, file));
  if (faults.length > 0) throw new GatewayConfigError(faults);
  const text = JSON.stringify([seed.digest, merged.brands, merged.providers, merged.models]);
  return { ...merged, digest: createHash('sha256').update(text).digest('hex') };
}

/** Yields the faults of the file's models, and of the prices that it gives others, each with its place there. */
function* mergedFaults(merged: Omit<Seed, 'digest'>, file: GatewayFile): Generator<string> {
  const { models, prices, providers } = file.config;
  const known = new Set(providers.map(({ slug }) => slug));
  for (const { model: id, loc, msg } of referenceFaults(merged)) {
    const model = models.find((own) => own.id === id);
    // A fault of form or of the file's own references has been told already.
    if (loc[0] === 'id' || (loc[2] === 'provider' && !known.has(providerAt(model, loc)))) continue;
    if (model !== undefined) {
      // The price of a route is its `prices` in the file; the words name what is within.
      const within = loc[2] === 'price' ? [...loc.slice(0, 2), 'prices'] : loc;
      yield file.fault(model, within, `${msg}.`);
      continue;
    }
    const override = prices.find((own) => own.model === id && msg.startsWith(`${own.provider} `));
    yield override === undefined ? `${id}: ${msg}.` : file.fault(override, ['prices'], `${msg}.`);
  }
  for (const model of models)
    for (const { within, word, known: words } of unknownWords(model))
      yield file.fault(model, within, `${word} is none of ${words.join(', ')}.`);
}

function providerAt(model: OwnModel | undefined, [, at]: readonly (string | number)[]): string {
  return model?.routes[Number(at)]?.provider ?? '';
}

function overridden(models: readonly SeedModel[], file: GatewayFile, faults: string[]): SeedModel[] {
  const changed = new Map(models.map((model) => [model.id, model]));
  for (const entry of file.config.prices) {
    const { model: id, provider, prices: price } = entry;
    const model = changed.get(id);
    if (!model?.routes.some((route) => route.provider === provider)) {
      const isOwn = file.config.models.some((own) => own.id === id);
      const reason = isOwn
        ? `${id} stands in this file with prices of its own.`
        : `the catalogue has no route of ${id} to ${provider}.`;
      faults.push(file.fault(entry, [], reason));
      continue;
    }
    const routes = model.routes.map((route) =>
      route.provider === provider ? { ...route, ...priced(price as PriceRecord) } : route,
    );
    changed.set(id, { ...model, routes });
  }
  return [...changed.values()];
}

function priced(price: PriceRecord): Pick<SeedRoute, 'price' | 'source' | 'source_date' | 'effective_date'> {
  const { effective_date = SINCE, ...rates } = price;
  return {
    price: { pricing_unit: 'per_1m_tokens', ...rates },
    source: SOURCE,
    source_date: SINCE,
    effective_date: effective_date ?? SINCE,
  };
}

function seedRoute(route: OwnRoute, dialects: ReadonlyMap<string, string>): SeedRoute {
  const { provider, upstream_model, dialect, context_length, max_output_tokens, prices } = route;
  return {
    provider,
    upstream_model,
    dialect: dialect ?? (isBuiltIn(provider) ? 'chat' : (dialects.get(provider) ?? 'chat')),
    ...(context_length === undefined ? {} : { context_length }),
    ...(max_output_tokens === undefined ? {} : { max_output_tokens }),
    ...priced(prices === undefined ? FREE : prices),
  };
}

const SUPPORTS: Readonly<Record<string, string[]>> = {
  text: ['completions_api', 'responses_api', 'tools'],
  embedding: ['embeddings'],
};

function seedModel(model: OwnModel, dialects: ReadonlyMap<string, string>): SeedModel {
  const { id, type = 'text', context_length, max_output_tokens, description } = model;
  const supports = model.supports ?? SUPPORTS[type] ?? [];
  return {
    id,
    name: model.name ?? id.slice(id.indexOf('/') + 1),
    brand: id.slice(0, id.indexOf('/')),
    model_type: type as ModelType,
    context_length,
    ...(max_output_tokens === undefined ? {} : { max_output_tokens }),
    ...(description === undefined ? {} : { description }),
    input_modalities: model.input_modalities ?? ['text'],
    output_modalities: model.output_modalities ?? [type === 'embedding' ? 'embedding' : 'text'],
    supports,
    reasoning: reasoningOf(supports, model.reasoning),
    ...(model.fixes_sampling === undefined ? {} : { fixes_sampling: model.fixes_sampling }),
    routes: model.routes.map((route) => seedRoute(route, dialects)),
  };
}
