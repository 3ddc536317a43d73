/** Models by id, or by a name that one brand has; providers by slug. */
export interface CatalogueNamed {
  models: string[];
  providers: string[];
}

/** What settings may name. Drivers: the newest snapshot in process (catalogue service); HTTP. */
export abstract class CatalogueNames {
  /**
   * Those that nobody knows. `auto` is a model here, and a provider is known where customers' own keys alone can call it.
   * Throws ApiError `service_unavailable` where nobody could say.
   */
  abstract unknown(named: CatalogueNamed): Promise<CatalogueNamed>;
}
