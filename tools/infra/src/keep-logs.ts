import { copyFileSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Copies what servers leave in files: records of Kafka (`*.log`, one folder a partition) and their own logs. */
export function keepLogs(folder: string, leftovers: string): void {
  const target = join(leftovers, 'servers');
  mkdirSync(target, { recursive: true });
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith('.log')) continue;
    const path = join(entry.parentPath, entry.name);
    copyFileSync(path, join(target, path.slice(folder.length + 1).replaceAll('/', '_')));
  }
}
