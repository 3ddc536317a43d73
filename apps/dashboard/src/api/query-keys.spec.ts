import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const SOURCES = join(import.meta.dirname, '..');
/** Pattern of a read: its key and its call. */
const READ = /\b(useQuery|useInfiniteQuery)\(\{\s+queryKey: (\[[^\]]*\])[\s\S]*?api\.(GET|POST)\('([^']+)'/g;

it('no two reads of the dashboard take each other’s answer from the cache: one key is one call', () => {
  const calls = new Map<string, Set<string>>();
  for (const file of globSync('*/*.queries.ts', { cwd: SOURCES })) {
    for (const [, hook, key, method, path] of readFileSync(join(SOURCES, file), 'utf8').matchAll(READ)) {
      calls.set(key, (calls.get(key) ?? new Set()).add(`${hook} ${method} ${path}`));
    }
  }
  expect(calls.size).toBeGreaterThan(30);
  expect([...calls].filter(([, ofKey]) => ofKey.size > 1)).toEqual([]);
});
