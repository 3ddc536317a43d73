/** Number of characters that a page shows at once; the API gives the whole. */
const CHARS_MAX = 20_000;

/** A logged body as text; null was too long to be kept, or no JSON. */
export function shownJson(body: unknown, bytes: number): string {
  if (body === null) return bytes === 0 ? 'nothing' : `${bytes.toLocaleString('en-US')} bytes, not kept`;
  const text = JSON.stringify(body, null, 2);
  return text.length <= CHARS_MAX ? text : `${text.slice(0, CHARS_MAX)}\n… cut here by the page`;
}
