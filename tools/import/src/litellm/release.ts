import { readSeed } from '@gateway/catalogue';
import { PROVIDERS } from '@gateway/providers';

type Model = ReturnType<typeof readSeed>['models'][number];

/** A route of this release and its model. */
export interface KnownRoute {
  model: Model;
  route: Model['routes'][number];
}

/** Models and providers of this release, by the names that an import asks for. */
export class ReleaseData {
  readonly seed = readSeed({ simulated: false });
  private readonly routes = new Map<string, KnownRoute>();
  private readonly models = new Map<string, Model>();

  constructor() {
    for (const model of this.seed.models) {
      this.models.set(model.id, model);
      for (const route of model.routes) {
        const name = `${route.provider} ${route.upstream_model}`;
        if (!this.routes.has(name)) this.routes.set(name, { model, route });
      }
    }
  }

  /** Returns the route of a provider to its own name of a model; null where this release has none. */
  route(slug: string, upstreamModel: string): KnownRoute | null {
    return this.routes.get(`${slug} ${upstreamModel}`) ?? null;
  }

  hasBrand(slug: string): boolean {
    return this.seed.brands.some((brand) => brand.slug === slug);
  }

  hasModel(id: string): boolean {
    return this.models.has(id);
  }

  speaks(slug: string, dialect: string): boolean {
    return this.provider(slug)?.dialects.some((one) => one === dialect) ?? false;
  }

  provider(slug: string): (typeof PROVIDERS)[number] | null {
    return PROVIDERS.find((provider) => provider.slug === slug) ?? null;
  }
}
