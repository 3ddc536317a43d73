import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Lines of compact JSON, one a case, and those that a file of the repository keeps. GOLDEN_WRITE=1 writes the file anew,
 * and its difference is read before it is committed; a build server compares, whatever is set there.
 */
export function goldenLines(path: string, cases: readonly object[]): { made: string[]; kept: string[] } {
  const file = join(process.cwd(), `${path}.golden.jsonl`);
  const made = cases.map((one) => JSON.stringify(one));
  if (process.env.GOLDEN_WRITE === '1' && process.env.CI === undefined)
    writeFileSync(file, `${made.join('\n')}\n`);
  const kept = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
  return { made, kept };
}
