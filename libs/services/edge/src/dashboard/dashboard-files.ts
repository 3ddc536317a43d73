import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';

/** One file of the built dashboard; the compressed twins were made by the build. */
export interface DashboardFile {
  type: string;
  plain: Buffer;
  br: Buffer | null;
  gzip: Buffer | null;
}

export interface DashboardFiles {
  /** index.html, cut where a nonce belongs. */
  index: readonly string[];
  /** Files by path below /dashboard/. */
  files: ReadonlyMap<string, DashboardFile>;
}

/** Mark in index.html, as the build writes it (apps/dashboard/vite.config.ts). */
const NONCE_PLACE = '__CSP_NONCE__';
const FILES_MAX = 2_000;
const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
};

/** Reads the build into memory, once at the start; null where there is none. */
export function readDashboard(dir: string): DashboardFiles | null {
  const index = join(dir, 'index.html');
  if (!existsSync(index)) return null;
  const files = new Map<string, DashboardFile>();
  for (const entry of readdirSync(dir, { withFileTypes: true, recursive: true })) {
    const type = TYPES[extname(entry.name)];
    if (!entry.isFile() || type === undefined) continue;
    if (files.size >= FILES_MAX) throw new Error(`${dir} holds more than ${FILES_MAX} files.`);
    const path = join(entry.parentPath, entry.name);
    files.set(relative(dir, path).split(sep).join('/'), {
      type,
      plain: readFileSync(path),
      br: twin(`${path}.br`),
      gzip: twin(`${path}.gz`),
    });
  }
  return { index: readFileSync(index, 'utf8').split(NONCE_PLACE), files };
}

function twin(path: string): Buffer | null {
  return existsSync(path) ? readFileSync(path) : null;
}
