import type { Mutant } from './mutants-of.js';

/** A mutant that no test can notice, by the line it stands in: line numbers would not outlive the next change. */
export interface Equivalent {
  file: string;
  code: string;
  change: string;
}

const ROW = /^\| `(?<file>[^`]+)` \| ``(?<code>.+?)`` \| ``(?<change>.+?)`` \|/;

/** Rows of the table in docs/mutants.md. */
export function readEquivalents(markdown: string): Equivalent[] {
  return markdown.split('\n').flatMap((line) => {
    const { file, code, change } = ROW.exec(line)?.groups ?? {};
    if (file === undefined) return [];
    return [{ file, code: unescaped(code), change: unescaped(change) }];
  });
}

export function isEquivalent(mutant: Mutant, lineText: string, known: readonly Equivalent[]): boolean {
  const change = changeOf(mutant);
  return known.some(
    (one) => one.file === mutant.file && one.code === lineText.trim() && one.change === change,
  );
}

/** Returns the change as reports and the table name it. */
export function changeOf({ from, to }: Mutant): string {
  return `${from} → ${to}`.replaceAll(/\s+/g, ' ');
}

function unescaped(cell: string): string {
  return cell.trim().replaceAll(String.raw`\|`, '|');
}
