import type { Params } from '../shell/search-params.js';

/** What a mark of a chart leads to. */
export interface Mark {
  to: string;
  search: Params;
}

/** What a chart of stacked bars draws. */
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
