/** Models by id, or by a name that one brand has; ids as they are listed; providers by slug. */
export interface CatalogueNamed {
  models: string[];
  /** Ids that lists of models hold, which are compared with the listed id alone. */
  ids: string[];
  providers: string[];
}

/** Names to look up, for an organization: its aliases count beside those of the platform. */
export interface CatalogueAsked extends CatalogueNamed {
  /** Absent or null: of no organization. */
  org_id?: string | null;
}

/** Names that settings may use. Drivers: the newest snapshot in process (catalogue service); HTTP. */
export abstract class CatalogueNames {
  /**
   * Returns the names that are not in the catalogue. `auto` and aliases count as models, aliases as ids, too, and a provider as known where customers'
   * own keys alone can call it. Throws ApiError `service_unavailable` where the lookup fails.
   */
  abstract unknown(named: CatalogueAsked): Promise<CatalogueNamed>;
}
