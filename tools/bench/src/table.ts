/** One figure of the table, of the baseline and of the gateway in the same run. */
export interface Row {
  figure: string;
  unit: string;
  baseline: number;
  gateway: number;
  /** What the gate compares: gateway / baseline, or the gateway's own figure. */
  gate: string;
}

const digits = (value: number): string =>
  Number.isNaN(value) ? '-' : value >= 100 ? value.toFixed(0) : value.toFixed(2);

/** The table in Markdown. Ratios are what holds on a noisy machine; the figures beside them are of this run. */
export function markdown(rows: readonly Row[]): string {
  const lines = rows.map(
    ({ figure, unit, baseline, gateway, gate }) =>
      `| ${figure} | ${digits(baseline)} ${unit} | ${digits(gateway)} ${unit} | ${digits(gateway / baseline)} | ${gate} |`,
  );
  return ['| figure | baseline | gateway | ratio | gate |', '|---|---|---|---|---|', ...lines, ''].join('\n');
}
