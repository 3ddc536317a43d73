import { randomBytes } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { entriesOf, rowsOf } from './stored.js';

/** The kinds of files that specs leave. The guard adds the files of servers, and Jest the answers. */
type Kind = 'postgres' | 'redis' | 'logs' | 'journals' | 'unread';

const CHUNK_CHARS = 1_000_000;

/** A file for one thing that a spec leaves, named for the spec; null in a run that keeps nothing (lab/leftovers). */
export function keeper(kind: Kind): ((bytes: string | Buffer) => void) | null {
  const folder = process.env['GATEWAY_LEFTOVERS'];
  if (!folder) return null;
  mkdirSync(join(folder, kind), { recursive: true });
  const file = join(folder, kind, `${specName()}-${randomBytes(6).toString('hex')}.txt`);
  return (bytes) => appendFileSync(file, bytes);
}

/** All rows of a database that is about to go. */
export function keepDatabase(url: string): Promise<void> {
  return keepAll('postgres', async function* () {
    for await (const { table, text } of rowsOf(url)) yield `${table} ${text}\n`;
  });
}

/** All keys of a logical database of Redis that is about to go. */
export function keepRedis(url: string): Promise<void> {
  return keepAll('redis', async function* () {
    for await (const entry of entriesOf(url)) yield `${entry}\n`;
  });
}

/** The files below a folder that is about to go. */
export function keepFiles(kind: Kind, folder: string): void {
  const keep = keeper(kind);
  if (keep === null || !existsSync(folder)) return;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) keep(readFileSync(join(entry.parentPath, entry.name)));
}

/** A server that a test has broken cannot be read: that is noted, and fails nothing. */
async function keepAll(kind: Kind, lines: () => AsyncIterable<string>): Promise<void> {
  const keep = keeper(kind);
  if (keep === null) return;
  let chunk = '';
  try {
    for await (const line of lines()) {
      chunk += line;
      if (chunk.length < CHUNK_CHARS) continue;
      keep(chunk);
      chunk = '';
    }
  } catch (cause) {
    keeper('unread')?.(`${kind}: ${String(cause)}\n`);
  }
  keep(chunk);
}

function specName(): string {
  const { expect } = globalThis as { expect?: { getState?: () => { testPath?: string } } };
  return basename(expect?.getState?.().testPath ?? 'none');
}
