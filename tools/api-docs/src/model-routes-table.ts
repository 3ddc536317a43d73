import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { markdownTable } from './markdown-table.js';

const DATA = 'libs/services/catalogue/data';

/** A model of the catalogue's data, as far as the table shows it. */
export interface RoutedModel {
  id: string;
  routes: { provider: string; retires_at?: string }[];
}

/** Reasons why a model has one provider, by the word that the data has for them. */
export const REASONS: Readonly<Record<string, string>> = {
  maker: 'No other provider here was found to sell it',
  dialect: 'Another provider here sells it over an interface that no dialect here speaks',
  price: 'Another provider here sells it; no public page with its price could be read',
  ends: 'The other route that was found has ended, or ends within weeks',
  retires: 'It is retired soon: no route is added',
  host: 'Its maker is no provider here; one provider here sells it',
  engine: 'A search engine of its own',
  free: 'Its maker gives it away: a route that costs would bill it',
};

/** Reasons why a model that people use is not in the catalogue, by the word that the data has for them. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  maker: 'No price of its maker could be read in a second table',
  dimension: 'What it makes is billed by a unit that a price record has no rate for',
  discount: 'Routers show a discount without an end; the list price could not be read',
  hosts: 'Many hosts sell it, and the public tables show only the cheapest of them',
};

/** Models of the data that some provider serves, by id. */
export function routedModels(): RoutedModel[] {
  const files = readdirSync(join(DATA, 'models')).sort();
  return files.flatMap(
    (file) => JSON.parse(readFileSync(join(DATA, 'models', file), 'utf8')) as RoutedModel[],
  );
}

/** Reasons of models with one provider, by id. */
export function oneProviderReasons(): Record<string, string> {
  return JSON.parse(readFileSync(join(DATA, 'one-provider.json'), 'utf8')) as Record<string, string>;
}

/** Reasons of models that are not in the catalogue, by id. */
export function leftOutReasons(): Record<string, string> {
  return JSON.parse(readFileSync(join(DATA, 'left-out.json'), 'utf8')) as Record<string, string>;
}

/** Models with several providers, those with one and those left out with the reason, as Markdown. */
export function modelRoutesTable(
  models = routedModels(),
  reasons = oneProviderReasons(),
  leftOut = leftOutReasons(),
): string {
  const served = models.map(({ id, routes }) => ({ id, providers: providersOf(routes) }));
  const several = served.filter(({ providers }) => providers.length > 1);
  const single = served.filter(({ providers }) => providers.length === 1);
  const allRoutes = models.flatMap(({ routes }) => routes);
  const counts = [...Map.groupBy(allRoutes, ({ provider }) => provider)].map(([provider, routes]) => [
    provider,
    String(routes.length),
  ]);
  return [
    '# Models and how many providers serve them\n\n',
    'Made from the catalogue’s data by `npm run docs:generate`. Where a model has several providers, a request that one fails is served by the next.\n\n',
    `Models with several providers: ${several.length}. With one: ${single.length}.\n\n`,
    '## Routes by provider\n',
    markdownTable(['provider', 'routes'], counts.sort(byFirst)),
    '\n## One provider\n',
    markdownTable(
      ['model', 'provider', 'why'],
      single.map(({ id, providers }) => [id, providers[0], REASONS[reasons[id]] ?? 'unknown']).sort(byFirst),
    ),
    '\n## Several providers\n',
    markdownTable(
      ['model', 'providers'],
      several.map(({ id, providers }) => [id, providers.join(', ')]).sort(byFirst),
    ),
    '\n## Not in the catalogue\n',
    markdownTable(
      ['model', 'why'],
      Object.entries(leftOut)
        .map(([id, word]) => [id, LEFT_OUT[word] ?? 'unknown'])
        .sort(byFirst),
    ),
  ].join('');
}

function providersOf(routes: RoutedModel['routes']): string[] {
  return [...new Set(routes.map(({ provider }) => provider))].sort();
}

function byFirst([one]: readonly string[], [other]: readonly string[]): number {
  return one < other ? -1 : 1;
}
