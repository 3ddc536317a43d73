import { isDeepStrictEqual } from 'node:util';
import { readSeed, withWholeFile } from '@gateway/catalogue';
import { orgDefaultFaults } from '@gateway/keys';
import { GatewayConfigError, type GatewayConfig, type GatewayFile } from '@gateway/providers';

type Merged = ReturnType<typeof withWholeFile>;

/** The changes of a file to the data of this release. */
export interface Plan {
  providers: Merged['providers'];
  /** Models that stand in the file, each whole. */
  models: Merged['models'];
  /** Routes of other models with the prices that the file gives them. */
  prices: { id: string; routes: PricedRoute[] }[];
  /** Defaults of new organizations; nothing where the file has none. */
  organizations: GatewayConfig['organizations'];
  /** Names of the platform. */
  aliases: GatewayConfig['aliases'];
  /** A line per change, for people. */
  lines: string[];
}

type Route = Merged['models'][number]['routes'][number];
type PricedRoute = Pick<
  Route,
  'provider' | 'upstream_model' | 'price' | 'source' | 'source_date' | 'effective_date'
>;

/** Throws GatewayConfigError with a sentence per fault. */
export function planOf(file: GatewayFile, seed: Merged = readSeed({ simulated: false })): Plan {
  const merged = mergedWith(seed, file);
  const { config } = file;
  const slugs = new Set(seed.providers.map(({ slug }) => slug));
  const before = new Map(seed.models.map((model) => [model.id, model]));
  const providers = merged.providers.filter(({ slug }) => !slugs.has(slug));
  const own = new Set(config.models.map(({ id }) => id));
  const changed = merged.models.filter((model) => !isDeepStrictEqual(before.get(model.id), model));
  const models = changed.filter(({ id }) => own.has(id));
  const priced = changed.filter(({ id }) => !own.has(id));
  return {
    providers,
    models,
    prices: priced.map((model) => ({ id: model.id, routes: pricedRoutes(model, before.get(model.id)) })),
    organizations: config.organizations,
    aliases: config.aliases,
    lines: [
      ...providers.map(({ slug, dialects }) => `+ provider ${slug} (${dialects.join(', ')})`),
      ...changed.flatMap((model) => changes(model, before.get(model.id))),
      ...Object.entries(config.organizations).map(
        ([name, value]) => `+ new organizations begin with ${name} ${shown(value)}`,
      ),
      ...config.aliases.map(
        ({ name, targets, shadow }) =>
          `+ alias ${name}: ${targets.map(({ model, weight }) => `${model} ${weight}`).join(', ')}${
            shadow === undefined ? '' : `, ${shadow.sample_pct}% also to ${shadow.model}`
          }`,
      ),
    ],
  };
}

/** The data with the file's. Throws GatewayConfigError with the faults of both the models and the limits of it. */
function mergedWith(seed: Merged, file: GatewayFile): Merged {
  const faults = orgDefaultFaults(file);
  try {
    const merged = withWholeFile(seed, file);
    if (faults.length === 0) return merged;
  } catch (failure) {
    if (!(failure instanceof GatewayConfigError)) throw failure;
    faults.unshift(...failure.faults);
  }
  throw new GatewayConfigError(faults);
}

function shown(value: unknown): string {
  return Array.isArray(value) ? value.join(', ') : String(value);
}

function changes(model: Merged['models'][number], before: Merged['models'][number] | undefined): string[] {
  if (!before) return [`+ model ${model.id}`, ...model.routes.map((route) => `    + ${routeLine(route)}`)];
  const old = new Map(before.routes.map((route) => [`${route.provider} ${route.upstream_model}`, route]));
  return [
    `~ model ${model.id}`,
    ...model.routes.flatMap((route) => {
      const known = old.get(`${route.provider} ${route.upstream_model}`);
      if (!known) return [`    + ${routeLine(route)}`];
      if (isDeepStrictEqual(known, route)) return [];
      return [`    - ${routeLine(known)}`, `    + ${routeLine(route)}`];
    }),
  ];
}

/** The routes whose price differs, with nothing but the price: the rest goes on following the release. */
function pricedRoutes(
  { routes }: Merged['models'][number],
  before: Merged['models'][number] | undefined,
): PricedRoute[] {
  return routes
    .filter((route) => before?.routes.every((known) => !isDeepStrictEqual(known, route)) ?? true)
    .map(({ provider, upstream_model, price, source, source_date, effective_date }) => ({
      ...{ provider, upstream_model, price, source, source_date, effective_date },
    }));
}

function routeLine({ provider, upstream_model, price }: Merged['models'][number]['routes'][number]): string {
  const rates = Object.entries(price)
    .filter(([name, value]) => name.includes('usd') && typeof value === 'string')
    .map(([name, value]) => `${name} ${String(value)}`);
  return `${provider} ${upstream_model}: ${price.is_free === true ? 'free' : rates.join(', ')}`;
}
