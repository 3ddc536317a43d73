import type { Seed, SeedModel } from '../seed/seed-record.js';

/** Returns data in the form of a document's payload: models and providers as POST /v1/admin/catalogue/import takes them. */
export function payloadOf(
  { brands, providers, models }: Seed,
  { version, createdAt }: { version: number; createdAt: string },
): object {
  return {
    version,
    created_at: createdAt,
    brands: brands.map(({ slug, name }) => ({ slug, name })),
    providers: providers.map(({ slug, name, dialects, regions, zero_retention }) => ({
      ...{ slug, name, dialects, regions, zero_retention },
    })),
    models: models.map(importedModel),
  };
}

function importedModel({ brand: _brand, is_free: _free, routes, ...model }: SeedModel): object {
  return {
    ...model,
    routes: routes.map(
      ({
        retires_source: _source,
        retires_source_date: _date,
        retention_source: _page,
        retention_source_date: _read,
        ...route
      }) => route,
    ),
  };
}
