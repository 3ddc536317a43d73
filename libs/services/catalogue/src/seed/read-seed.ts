import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { plainToInstance } from 'class-transformer';
import { validateSync, type ValidationError } from 'class-validator';
import type { PriceRecord } from '@gateway/contracts';
import { validatePriceRecord, type PricedModelType } from '@gateway/money';
import { SeedBrand, SeedModel, SeedProvider, type Seed } from './seed-record.js';

/** The data files that come with the service. */
const SEED_DIR = join(import.meta.dirname, '../../data');

/** Provider slugs of the built-in simulator; they and their models are offered only where the operator says so. */
const SIMULATED = new Set(['simulated', 'simulated-messages']);
const SIMULATED_BRAND = 'simulator';

/**
 * Reads and checks the data files.
 * @throws Error that names every fault of them.
 */
export function readSeed(options: { simulated: boolean; dir?: string }): Seed {
  const dir = options.dir ?? SEED_DIR;
  const files = readdirSync(join(dir, 'models')).filter((name) => name.endsWith('.json'));
  const paths = files.sort().map((file) => join('models', file));
  if (options.simulated) paths.push('simulated.json');

  const models = paths.flatMap((path) => read(join(dir, path), SeedModel));
  const providers = read(join(dir, 'providers.json'), SeedProvider).filter(
    ({ slug }) => options.simulated || !SIMULATED.has(slug),
  );
  const brands = read(join(dir, 'brands.json'), SeedBrand).filter(
    ({ slug }) => options.simulated || slug !== SIMULATED_BRAND,
  );
  const faults = referenceFaults({ brands, providers, models }).map(({ model, msg }) => `${model}: ${msg}`);
  if (faults.length > 0) throw new Error(`The seed data is wrong:\n${faults.join('\n')}`);
  const digest = createHash('sha256')
    .update(JSON.stringify([brands, providers, models]))
    .digest('hex');
  return { brands, providers, models, digest };
}

function read<T extends object>(path: string, type: new () => T): T[] {
  const parsed: unknown = JSON.parse(readFileSync(path, 'utf8'));
  if (!Array.isArray(parsed)) throw new Error(`${path} is not a JSON array.`);
  const entries = parsed.map((entry: unknown) => plainToInstance(type, entry));
  const rules = { whitelist: true, forbidNonWhitelisted: true, forbidUnknownValues: true };
  const faults = entries.flatMap((entry, index) => textOf(validateSync(entry, rules), `${path}[${index}]`));
  if (faults.length > 0) throw new Error(`The seed data is wrong:\n${faults.join('\n')}`);
  return entries;
}

function textOf(errors: readonly ValidationError[], path: string): string[] {
  return errors.flatMap(({ property, constraints = {}, children = [] }) => [
    ...Object.values(constraints).map((text) => `${path}: ${text}`),
    ...textOf(children, `${path}.${property}`),
  ]);
}

interface ModelFault {
  model: string;
  /** Inside the model. */
  loc: (string | number)[];
  msg: string;
}

interface References {
  brands: readonly { slug: string }[];
  providers: readonly { slug: string }[];
  models: readonly SeedModel[];
  /** Ids of further models that a composite may name. */
  others?: readonly string[];
}

/** Returns the faults of references between entries, and of prices. */
export function referenceFaults({ brands, providers, models, others = [] }: References): ModelFault[] {
  const knownBrands = new Set(brands.map(({ slug }) => slug));
  const knownProviders = new Set(providers.map(({ slug }) => slug));
  const knownModels = new Set([...models.map(({ id }) => id), ...others]);
  const seen = new Set<string>();
  return models.flatMap((model) => {
    const faults: Omit<ModelFault, 'model'>[] = [];
    const add = (loc: (string | number)[], msg: string): void => void faults.push({ loc, msg });
    if (seen.has(model.id)) add(['id'], 'the id is there twice');
    seen.add(model.id);
    if (!model.id.startsWith(`${model.brand}/`)) add(['brand'], 'the brand differs from the id');
    if (!knownBrands.has(model.brand)) add(['brand'], `unknown brand ${model.brand}`);
    const members = model.composite_models ?? [];
    if (members.length > 0 === model.routes.length > 0)
      add(['routes'], 'a model has routes or composite_models, and not both');
    for (const [at, member] of members.entries())
      if (member === model.id || !knownModels.has(member))
        add(['composite_models', at], `unknown model ${member}`);
    const { successor } = model;
    if (successor != null && (successor === model.id || !knownModels.has(successor)))
      add(['successor'], `unknown model ${successor}`);
    if (!isDay(model.released)) add(['released'], 'there is no such day');
    for (const fault of routeFaults(model, knownProviders)) faults.push(fault);
    return faults.map((fault) => ({ model: model.id, ...fault }));
  });
}

function* routeFaults(
  model: SeedModel,
  knownProviders: ReadonlySet<string>,
): Generator<Omit<ModelFault, 'model'>> {
  const { routes } = model;
  const targets = new Set<string>();
  for (const [at, route] of routes.entries()) {
    const { provider, upstream_model: upstream, price } = route;
    const target = `${provider} ${upstream}`;
    if (targets.has(target)) yield { loc: ['routes', at], msg: `two routes to ${target}` };
    targets.add(target);
    if (!knownProviders.has(provider))
      yield { loc: ['routes', at, 'provider'], msg: `unknown provider ${provider}` };
    for (const field of ['source_date', 'effective_date', 'retires_at'] as const)
      if (!isDay(route[field])) yield { loc: ['routes', at, field], msg: 'there is no such day' };
    for (const { loc, msg } of validatePriceRecord(price, deliveredBy(model, price))) {
      const where = ['routes', at, 'price', ...loc];
      yield { loc: where, msg: `${target}: ${[...loc, msg].join(' ')}` };
    }
  }
}

/** JavaScript takes 2026-02-31 for 3 March. */
function isDay(text: string | null | undefined): boolean {
  if (text == null) return true;
  const at = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
}

/** Returns the measure of the price: engines deliver searches, and a reranker only reads, by searches or by tokens. */
function deliveredBy(
  { model_type: type, output_modalities: output }: SeedModel,
  price: PriceRecord,
): PricedModelType {
  if (output.includes('search_results')) return 'search';
  if (output.includes('rerank')) return price.search_usd_per_1k == null ? 'embedding' : 'search';
  return type;
}
