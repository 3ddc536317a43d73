import { textOf } from '../body/json-object.js';
import { badReply } from '../translation/exchange.js';

/** What a provider calls a batch or a file, where it can be kept. Throws ExchangeFailure. */
export function idOf(value: unknown): string {
  const id = textOf(value);
  if (id === '' || id.length > 256) throw badReply('the answer names no id.');
  return id;
}

/** The number of a line as it is sent with it; null for what was none. */
export function lineNumber(text: string): number | null {
  return /^\d{1,7}$/.test(text) ? Number(text) : null;
}
