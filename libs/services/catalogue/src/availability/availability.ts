import { Injectable } from '@nestjs/common';
import type { CatalogueModel, Principal, Route } from '@gateway/contracts';
import { isSimulated } from '@gateway/providers';
import { matchesModel } from '@gateway/routing';
import { CatalogueConfig } from '../catalogue.config.js';
import { StoredCredentials } from './stored-credentials.js';

type NamedRoute = Pick<Route, 'model' | 'provider' | 'upstreamModel'>;

/** Finds a model of the newest snapshot by its id. */
type Find = (id: string) => CatalogueModel | null;

/** Tells which models can be called: those with a route whose provider has a credential. In memory: no I/O. */
@Injectable()
export class Availability {
  constructor(
    private readonly credentials: StoredCredentials,
    private readonly config: CatalogueConfig,
  ) {}

  /**
   * True if a living route of the model has a credential of the platform or a provider key of the caller's account; of a
   * composite, if that holds for each member. A route of another provider than the key's pinned one does not count.
   */
  isAvailable(caller: Principal | null, model: CatalogueModel, find: Find): boolean {
    if (model.record.is_composite)
      return model.record.composite_models.every((id) => {
        const member = find(id);
        return member !== null && this.isAvailable(caller, member, find);
      });
    const pinned = caller?.kind === 'key' ? caller.fixedProvider : null;
    return model.routes.some(
      (route) => (pinned === null || route.provider === pinned) && this.hasCredential(caller, route),
    );
  }

  /** True if a call of the caller's can use the route. Before an edge has reported, every route counts. */
  hasCredential(caller: Principal | null, route: NamedRoute): boolean {
    const { provider, model } = route;
    if (this.credentials.serves(route)) return true;
    if (caller?.kind === 'session') return caller.keyedProviders?.includes(provider) ?? false;
    if (caller?.kind !== 'key') return false;
    return (caller.providerKeys ?? []).some(
      (key) =>
        key.provider === provider && (key.allowedModels === null || matchesModel(key.allowedModels, model)),
    );
  }

  /** True if the platform itself can call the route. */
  isReady(route: NamedRoute): boolean {
    return this.credentials.serves(route);
  }

  /** True if the platform has a credential of the provider; null before any edge has reported. */
  hasOwnCredential(provider: string): boolean | null {
    return this.credentials.providers()?.has(provider) ?? null;
  }

  /** False for models of the simulated providers alone, once their setting or a real credential takes them out of lists. */
  isListed({ routes }: CatalogueModel): boolean {
    return (
      !this.hidesSimulated() || routes.length === 0 || !routes.every(({ provider }) => isSimulated(provider))
    );
  }

  private hidesSimulated(): boolean {
    const { SIMULATED_MODELS: setting } = this.config;
    if (setting !== 'auto') return setting === 'off';
    return [...(this.credentials.providers() ?? [])].some((slug) => !isSimulated(slug));
  }
}
