import { isSimulated } from '@gateway/providers';
import type { FeedLayer } from './feed-layer.js';
import type { Seed, SeedModel } from './seed-record.js';

/** Returns the version of data: the newest day on which a source was read, YYYYMMDDhhmm at midnight. */
export function versionOf({ models }: Pick<Seed, 'models'>): number {
  const days = models.flatMap(({ routes }) => routes.map(({ source_date }) => source_date)).sort();
  return Number(`${(days.at(-1) ?? '1970-01-01').replaceAll('-', '')}0000`);
}

/** Returns the feed's data with what of the release no feed has: the simulated models. */
export function withFeed(release: Seed, feed: FeedLayer): Seed {
  const slugs = new Set(feed.providers.map(({ slug }) => slug));
  const brands = new Set(feed.brands.map(({ slug }) => slug));
  const ids = new Set(feed.models.map(({ id }) => id));
  return {
    brands: [...feed.brands, ...release.brands.filter(({ slug }) => !brands.has(slug))],
    providers: [...feed.providers, ...release.providers.filter(({ slug }) => !slugs.has(slug))],
    models: [...feed.models, ...release.models.filter((model) => isOfSimulator(model) && !ids.has(model.id))],
    digest: `${release.digest} ${feed.digest}`,
  };
}

/** True if simulated providers alone serve the model: no feed says anything of it. */
export function isOfSimulator({ routes, brand }: SeedModel): boolean {
  return (
    brand === 'simulator' || (routes.length > 0 && routes.every(({ provider }) => isSimulated(provider)))
  );
}
