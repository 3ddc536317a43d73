import type { Params } from '../shell/search-params.js';

/** The link of a chart's mark. */
export interface Mark {
  to: string;
  search: Params;
}

interface GroupOverTime<Height> {
  label: string;
  color: string;
  /** One per bucket. */
  heights: readonly Height[];
  /** One per bucket, with what its mark leads to. */
  marks?: readonly Mark[];
}

/** The content of a chart of stacked bars: of groups whose sum is true of all of them. */
export interface Bars {
  /** One label per bucket. */
  labels: readonly string[];
  series: readonly GroupOverTime<number>[];
}

/** The content of a chart of lines: of groups that no sum has. Null = no value in that bucket. */
export interface Lines {
  labels: readonly string[];
  series: readonly GroupOverTime<number | null>[];
  /** The value of all groups together, one per bucket; null where it is not known. */
  whole: readonly (number | null)[] | null;
}
