import { createHash } from 'node:crypto';
import type { ModelType, PriceRecord } from '@gateway/contracts';
import {
  GatewayConfigError,
  isBuiltIn,
  type GatewayConfig,
  type OwnModel,
  type OwnRoute,
} from '@gateway/providers';
import { reasoningOf } from '../seed/reasoning-of.js';
import { referenceFaults } from '../seed/read-seed.js';
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
export function withOwn(seed: Seed, config: GatewayConfig, discovered: readonly SeedModel[] = []): Seed {
  const { providers, models, prices } = config;
  if (providers.length + models.length + prices.length + discovered.length === 0) return seed;
  const dialects = new Map(providers.map(({ slug, dialect = 'chat' }) => [slug, dialect]));
  const own = models.map((model) => seedModel(model, dialects));
  const ids = new Set(own.map(({ id }) => id));
  const found = discovered.filter(({ id }) => !ids.has(id));
  for (const { id } of found) ids.add(id);
  const faults: string[] = [];
  const kept = seed.models.filter(({ id }) => !ids.has(id));
  const all = [...overridden(kept, prices, faults), ...own, ...found];
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
  faults.push(...referenceFaults(merged).map(({ model, msg }) => `${model}: ${msg}.`));
  if (faults.length > 0) throw new GatewayConfigError(faults);
  const text = JSON.stringify([seed.digest, merged.brands, merged.providers, merged.models]);
  return { ...merged, digest: createHash('sha256').update(text).digest('hex') };
}

function overridden(
  models: readonly SeedModel[],
  prices: GatewayConfig['prices'],
  faults: string[],
): SeedModel[] {
  const changed = new Map(models.map((model) => [model.id, model]));
  for (const [at, { model: id, provider, prices: price }] of prices.entries()) {
    const model = changed.get(id);
    if (!model?.routes.some((route) => route.provider === provider)) {
      faults.push(`prices[${at}]: the catalogue has no route of ${id} to ${provider}.`);
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
