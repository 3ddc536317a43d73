import type { Params } from '../shell/search-params.js';

/** The link of a chart's mark. */
export interface Mark {
  to: string;
  search: Params;
}

/** The content of a chart of stacked bars. */
export interface Bars {
  /** One label per bucket. */
  labels: readonly string[];
  /** One per group: its name, and a height per bucket, with what the bar of each leads to. */
  series: readonly {
    label: string;
    color: string;
    heights: readonly number[];
    marks?: readonly Mark[];
  }[];
}
