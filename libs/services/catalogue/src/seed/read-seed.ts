import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { plainToInstance } from 'class-transformer';
import { validateSync, type ValidationError } from 'class-validator';
import { validatePriceRecord } from '@gateway/money';
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
  const faults = referenceFaults({ brands, providers, models });
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

/** What one entry says of another, and prices. */
function referenceFaults({ brands, providers, models }: Omit<Seed, 'digest'>): string[] {
  const knownBrands = new Set(brands.map(({ slug }) => slug));
  const knownProviders = new Set(providers.map(({ slug }) => slug));
  const seen = new Set<string>();
  return models.flatMap((model) => {
    const faults: string[] = [];
    if (seen.has(model.id)) faults.push('the id is there twice');
    seen.add(model.id);
    if (!model.id.startsWith(`${model.brand}/`)) faults.push('the brand differs from the id');
    if (!knownBrands.has(model.brand)) faults.push(`unknown brand ${model.brand}`);
    const targets = new Set<string>();
    for (const route of model.routes) {
      const target = `${route.provider} ${route.upstream_model}`;
      if (targets.has(target)) faults.push(`two routes to ${target}`);
      targets.add(target);
      if (!knownProviders.has(route.provider)) faults.push(`unknown provider ${route.provider}`);
      for (const { loc, msg } of validatePriceRecord(route.price, model.model_type))
        faults.push(`${target}: ${loc.join('.')} ${msg}`);
    }
    return faults.map((fault) => `${model.id}: ${fault}`);
  });
}
