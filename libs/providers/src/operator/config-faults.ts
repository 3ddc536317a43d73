import type { EntryFault, Path } from './entry-fault.js';
import type { GatewayConfig, OwnAlias, OwnModel, OwnProvider } from './gateway-config.js';
import { isBuiltIn } from './gateway-config.js';
import { dialectsOf, ownDialects } from './own-dialects.js';
import { upstreamFaults } from './upstream-faults.js';

/** Name that requests use for the model that the gateway chooses. */
const AUTO = 'auto';
/** Budgets of one provider. */
const PER_PROVIDER_MAX = 4;

/**
 * Yields the contradictions of a file whose entries are each well-formed. `slugs` are all the providers that it names,
 * those of faulty entries too.
 */
export function* configFaults(
  { providers, models, aliases, budgets }: GatewayConfig,
  slugs: ReadonlySet<string>,
): Generator<EntryFault> {
  const seen = new Set<string>();
  for (const entry of providers) {
    if (seen.has(entry.slug)) yield { entry, within: [], words: `${entry.slug} is there twice.` };
    seen.add(entry.slug);
    yield* providerFaults(entry);
  }
  const ids = new Set<string>();
  for (const entry of models) {
    if (ids.has(entry.id)) yield { entry, within: [], words: `${entry.id} is there twice.` };
    ids.add(entry.id);
    yield* routeFaults(entry, providers, slugs);
  }
  const names = new Set<string>();
  for (const entry of aliases) {
    if (names.has(entry.name)) yield { entry, within: [], words: `${entry.name} is there twice.` };
    names.add(entry.name);
    yield* targetFaults(entry);
  }
  for (const [position, entry] of budgets.entries()) {
    const { scope_id: slug } = entry;
    if (!isBuiltIn(slug) && !slugs.has(slug))
      yield { entry, within: ['scope_id'], words: `there is no provider ${slug}.` };
    const before = budgets.slice(0, position).filter(({ scope_id }) => scope_id === slug);
    if (before.length >= PER_PROVIDER_MAX)
      yield { entry, within: [], words: `${slug} has more than ${PER_PROVIDER_MAX} budgets.` };
  }
}

function* targetFaults(entry: OwnAlias): Generator<EntryFault> {
  const { name, targets } = entry;
  if (name === AUTO)
    yield { entry, within: ['name'], words: 'auto is the name for the model that the gateway chooses.' };
  for (const [position, { model }] of targets.entries())
    if (targets.findIndex((one) => one.model === model) < position)
      yield { entry, within: ['targets', position], words: `${model} is there twice.` };
  if (targets.every(({ weight }) => weight === 0))
    yield { entry, within: ['targets'], words: 'one weight has to be above 0.' };
}

function* providerFaults(entry: OwnProvider): Generator<EntryFault> {
  const { slug, dialect, base_url } = entry;
  const add = (words: string, within: Path = []): EntryFault => ({ entry, within, words });
  if (isBuiltIn(slug)) {
    if (dialect !== undefined)
      yield add(`${slug} is known to this release, which knows its dialect: leave dialect out.`, ['dialect']);
  } else {
    if (dialect === undefined) yield add(`dialect is missing, because this release has no ${slug}.`);
    if (base_url === undefined) yield add(`base_url is missing, because this release has no ${slug}.`);
  }
  const fault = base_url === undefined ? null : addressFault(base_url);
  if (fault !== null) yield add(fault, ['base_url']);
  yield* upstreamFaults(entry);
}

function addressFault(address: string): string | null {
  if (!URL.canParse(address) || !/^https?:/.test(address)) return 'this is no http(s) address.';
  const { username, password, search } = new URL(address);
  if (username !== '' || password !== '')
    return 'it holds a credential: name a variable in api_key_env instead.';
  return search === '' ? null : 'it has a query, which requests would lose.';
}

function* routeFaults(
  entry: OwnModel,
  providers: readonly OwnProvider[],
  slugs: ReadonlySet<string>,
): Generator<EntryFault> {
  for (const [position, { provider, dialect, prices, free }] of entry.routes.entries()) {
    const add = (words: string, more: Path = []): EntryFault => ({
      entry,
      within: ['routes', position, ...more],
      words,
    });
    const own = providers.find(({ slug }) => slug === provider);
    const spoken = isBuiltIn(provider) ? dialectsOf(provider) : own && ownDialects(own);
    if (!slugs.has(provider) && !isBuiltIn(provider))
      yield add(`there is no provider ${provider}, neither here nor in this release.`, ['provider']);
    if (isBuiltIn(provider) && dialect === undefined && spoken?.length !== 1)
      yield add(`dialect is missing: ${provider} speaks ${spoken?.join(', ')}.`);
    if (dialect !== undefined && spoken?.includes(dialect) === false)
      yield add(`${provider} does not speak ${dialect}: it speaks ${spoken.join(', ')}.`, ['dialect']);
    if (prices === undefined && free !== true)
      yield add('prices are missing; a model that costs nothing says free: true.');
    if (prices !== undefined && free === true) yield add('it has prices and is free: keep one of them.');
  }
}
