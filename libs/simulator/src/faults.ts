import type { SimDialect } from './dialect.js';
import type { NativeError } from './error-table.js';
import { numberOf, ScriptFault, type Script } from './script.js';

const FAULT_KEYS = ['error', 'inband', 'cut', 'silent', 'hang', 'malformed', 'reset'];
const MAX_KEYS = 10_000;

/** Counts the requests of each key, for scripts that fail first and then succeed. */
export class FailureCounter {
  private readonly seen = new Map<string, number>();

  /** The script as it stands for this request: without its faults once the key has failed often enough. */
  apply(script: Script, requestKey: string): Script {
    if (!script.values.has('fail')) return script;
    const key = script.values.get('key') ?? requestKey;
    const count = (this.seen.get(key) ?? 0) + 1;
    if (this.seen.size >= MAX_KEYS) this.seen.clear();
    this.seen.set(key, count);
    const values = new Map(script.values);
    if (count > numberOf(script, 'fail', 0)) for (const fault of FAULT_KEYS) values.delete(fault);
    else if (!FAULT_KEYS.some((fault) => values.has(fault))) values.set('error', '500');
    return { ...script, values };
  }

  reset(): void {
    this.seen.clear();
  }
}

/** The row that the script names, in the dialect's own form; a bare status finds the first row of it. */
export function errorOf(script: Script, dialect: SimDialect): NativeError | undefined {
  const name = script.values.get('error');
  if (name === undefined) return undefined;
  const row = dialect.errors.get(name) ?? firstOfStatus(dialect, name);
  if (row === undefined) throw new ScriptFault(`this dialect has no error row ${name}`);
  const seconds = script.values.get('retry_after');
  const milliseconds = script.values.get('retry_after_ms');
  const headers = { ...row.headers };
  if (seconds !== undefined) headers['retry-after'] = seconds;
  if (milliseconds !== undefined) headers['retry-after-ms'] = milliseconds;
  return { ...row, headers };
}

function firstOfStatus(dialect: SimDialect, name: string): NativeError | undefined {
  if (!/^\d{3}$/.test(name)) return undefined;
  return [...dialect.errors.values()].find((row) => String(row.status) === name);
}
