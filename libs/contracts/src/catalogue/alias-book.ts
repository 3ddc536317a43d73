/** A model that a name stands for, and its share of the requests beside the other weights. */
export interface AliasTarget {
  /** Catalogue id. */
  model: string;
  /** 0 to 1000; 0 is never drawn. */
  weight: number;
}

/** A second model that a sample of an alias' requests goes to, too, once they are answered. */
export interface AliasShadow {
  /** Id of the alias, by which what became of the sample is found. */
  alias_id: string;
  /** Catalogue id. */
  model: string;
  /** Part of the requests in per cent, above 0. */
  sample_pct: number;
}

/** A name of one organization, or of the platform where `org_id` is null, that stands for models. */
export interface Alias {
  org_id: string | null;
  name: string;
  targets: readonly AliasTarget[];
  /** Absent = none. */
  shadow?: AliasShadow;
}

/** Every enabled alias. Immutable; a change makes a new one with another version. */
export interface AliasBook {
  version: string;
  aliases: readonly Alias[];
}
