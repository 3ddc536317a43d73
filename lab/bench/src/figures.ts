/** One measured figure: the median of its rounds and the worst of them. */
export interface Figure {
  median: number;
  worst: number;
  /** Ratio to the baseline, where the row's own ratio is of another program. */
  ratio?: number;
  /** Ratios of the gateway's figure to this one of a program beside it; above 1 the gateway is better. */
  ofIt?: Spread;
}

/** Ratios of rounds that stood side by side, which hold where the speed of the machine wanders. */
export interface Spread {
  median: number;
  least: number;
  most: number;
}

export type Verdict = 'pass' | 'miss';

/** One line of the table, of the baseline and of the gateway in the same run. */
export interface Row {
  /** Stable name, by which a later run replaces this row in docs/performance/figures.json. */
  id: string;
  figure: string;
  unit: string;
  /** null where the figure is not one of a proxy. */
  baseline: Figure | null;
  gateway: Figure | null;
  /** Other programs of the same run, by the name of --peer; `before` is the gateway of --against. */
  peers: Record<string, Figure>;
  /**
   * Gateway / baseline for throughput, baseline / gateway for what is spent: more is better in both. The median over
   * rounds that stood side by side, where rounds took turns. null = none.
   */
  ratio: number | null;
  /** Microseconds of processor time per request, of all programs of a load row; absent in other rows. */
  costs?: { name: string; boxUs: number; processUs: number }[];
  /** The bound in words; empty where the row only informs. */
  gate: string;
  verdict: Verdict | null;
  /** Remark that a reader needs to trust the figure; empty mostly. */
  note: string;
}

export const EXACT = (value: number): Figure => ({ median: value, worst: value });

export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  if (sorted.length === 0) return Number.NaN;
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Returns a percentile of sorted numbers; NaN of none. */
export function percentile(sorted: ArrayLike<number>, share: number): number {
  if (sorted.length === 0) return Number.NaN;
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

/** Worst is the least where more is better (throughput), the most where less is better (time, memory). */
export function figureOf(rounds: readonly number[], better: 'more' | 'less'): Figure {
  if (rounds.length === 0) return EXACT(Number.NaN);
  return { median: median(rounds), worst: better === 'more' ? Math.min(...rounds) : Math.max(...rounds) };
}

export function verdictOf(holds: boolean): Verdict {
  return holds ? 'pass' : 'miss';
}

/** A row with nothing but what is given; the rest is empty. */
export function row(given: Partial<Row> & Pick<Row, 'id' | 'figure' | 'unit'>): Row {
  return {
    baseline: null,
    gateway: null,
    peers: {},
    ratio: null,
    gate: '',
    verdict: null,
    note: '',
    ...given,
  };
}
