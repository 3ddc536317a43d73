import { textOf } from '../body/json-object.js';
import { badReply } from '../translation/exchange.js';

/** Half of a pair of surrogates stands in no address. */
const LONE_SURROGATE = /\p{Cs}/u;

/** Returns a provider's id of a batch or a file, where it can be stored. Throws ExchangeFailure. */
export function idOf(value: unknown): string {
  const id = textOf(value);
  if (id === '' || id.length > 256 || LONE_SURROGATE.test(id)) throw badReply('the answer names no id.');
  return id;
}

/** Returns the start of the next page of a list; '' for none. Throws ExchangeFailure. */
export function pageOf(value: unknown): string {
  const token = textOf(value);
  if (LONE_SURROGATE.test(token)) throw badReply('the answer names no page.');
  return token;
}

/** The number of a line as it is sent with it; null for what was none. */
export function lineNumber(text: string): number | null {
  return /^\d{1,7}$/.test(text) ? Number(text) : null;
}
