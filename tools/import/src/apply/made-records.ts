import { appendFileSync, existsSync, readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';

const PRIVATE_FILE = 0o600;
const HEAD = 'old alias,old masked,new id,new key\n';

/**
 * Record of all that an import has made, in its folder: ids by old ids in made.jsonl, secrets of keys in keys.csv. Each
 * row is appended after the answer, so a process that is killed loses the last one at most.
 */
export class MadeRecords {
  private readonly ids = new Map<string, string>();
  private readonly keys = new Set<string>();
  private readonly journal: string;
  private readonly table: string;

  constructor(folder: string) {
    this.journal = join(folder, 'made.jsonl');
    this.table = join(folder, 'keys.csv');
    for (const line of wholeLines(this.journal)) {
      const { old_id, id } = JSON.parse(line) as { old_id: string; id: string };
      this.ids.set(old_id, id);
    }
    const rows = wholeLines(this.table);
    if (rows.length === 0) appendFileSync(this.table, HEAD, { mode: PRIVATE_FILE });
    for (const row of rows) this.keys.add(row.split(',').at(-2) ?? '');
  }

  idOf(oldId: string): string | null {
    return this.ids.get(oldId) ?? null;
  }

  add(oldId: string, id: string): void {
    appendFileSync(this.journal, `${JSON.stringify({ old_id: oldId, id })}\n`, { mode: PRIVATE_FILE });
    this.ids.set(oldId, id);
  }

  hasSecretOf(id: string): boolean {
    return this.keys.has(id);
  }

  addSecret(label: string, masked: string, id: string, key: string): void {
    appendFileSync(this.table, `${cell(label)},${cell(masked)},${id},${key}\n`, { mode: PRIVATE_FILE });
    this.keys.add(id);
  }
}

/** Returns the lines; one that a killed process has left half written is removed. */
function wholeLines(path: string): string[] {
  if (!existsSync(path)) return [];
  const bytes = readFileSync(path);
  const end = bytes.lastIndexOf(10) + 1;
  if (end < bytes.length) truncateSync(path, end);
  return bytes.subarray(0, end).toString('utf8').split('\n').filter(Boolean);
}

/** Returns a cell of a table on one line, which no spreadsheet takes for a formula. */
function cell(text: string): string {
  const line = text.replace(/\p{Cc}/gu, ' ');
  return `"${(/^\s*[=+\-@|%]/.test(line) ? `'${line}` : line).replaceAll('"', '""')}"`;
}
