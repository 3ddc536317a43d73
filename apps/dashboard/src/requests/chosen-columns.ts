const SHOWN = ['Time', 'Model', 'Key', 'Status', 'Input', 'Output', 'Latency', 'Cost'];

/** Columns that the URL names; the usual ones where it names none that there is. */
export function chosenColumns(text: string | undefined, all: readonly string[]): Set<string> {
  const named = (text ?? '').split(',').filter((name) => all.includes(name));
  return new Set(named.length === 0 ? SHOWN : named);
}

/** Returns the choice's text in the URL: nothing for the usual columns. */
export function columnsText(chosen: readonly string[], all: readonly string[]): string | null {
  const isUsual = chosen.length === SHOWN.length && SHOWN.every((name) => chosen.includes(name));
  return isUsual ? null : all.filter((name) => chosen.includes(name)).join(',');
}
