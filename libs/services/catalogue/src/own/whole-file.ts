import { GatewayConfigError, PROVIDERS, type GatewayFile } from '@gateway/providers';
import type { Seed } from '../seed/seed-record.js';
import { withOwn } from './with-own.js';

const SHOWN_MAX = 5;

/**
 * The seed with all that the file says, its aliases judged, too. A running service asks `withOwn` alone: a feed that
 * takes a model away has not to fail by an alias.
 * @throws GatewayConfigError with a sentence per fault.
 */
export function withWholeFile(seed: Seed, file: GatewayFile): Seed {
  const faults = [...aliasFaults(seed, file)];
  try {
    const merged = withOwn(seed, file);
    if (faults.length === 0) return merged;
  } catch (failure) {
    if (!(failure instanceof GatewayConfigError)) throw failure;
    faults.unshift(...failure.faults);
  }
  throw new GatewayConfigError(faults);
}

/** Yields what of the aliases fits no model. Those of local servers are known once these are asked: theirs pass. */
function* aliasFaults(seed: Seed, file: GatewayFile): Generator<string> {
  const { aliases, providers, models } = file.config;
  const known = new Set([...seed.models, ...models].map(({ id }) => id));
  const composites = new Set(seed.models.flatMap((model) => (model.composite_models ? [model.id] : [])));
  const served = new Set(models.flatMap(({ routes }) => routes.map(({ provider }) => provider)));
  const servers = new Set([
    ...PROVIDERS.filter(({ isKeyless }) => isKeyless).map(({ slug }) => slug),
    ...providers.filter(({ slug, discover }) => discover ?? !served.has(slug)).map(({ slug }) => slug),
  ]);
  for (const alias of aliases) {
    if (known.has(alias.name)) yield file.fault(alias, ['name'], `a model has the id ${alias.name}.`);
    const named = alias.targets.map(({ model }, at) => ({ model, place: ['targets', at, 'model'] }));
    if (alias.shadow !== undefined) named.push({ model: alias.shadow.model, place: ['shadow', 'model'] });
    for (const { model, place } of named) {
      const brand = model.slice(0, model.indexOf('/'));
      if (composites.has(model))
        yield file.fault(alias, place, `${model} is a composite, which is no target.`);
      if (known.has(model) || servers.has(brand)) continue;
      const near = [...known].filter((id) => id.startsWith(`${brand}/`)).slice(0, SHOWN_MAX);
      const offer = near.length === 0 ? '' : `: of ${brand} it has ${near.join(', ')} and so on`;
      yield file.fault(alias, place, `the catalogue has no model ${model}${offer}.`);
    }
  }
}
