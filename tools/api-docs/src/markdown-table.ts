/** Returns the rows as a Markdown table; columns but the first are centred where `isCentred`. */
export function markdownTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  { isCentred = false } = {},
): string {
  const line = head.map((_, at) => (isCentred && at > 0 ? ':-:' : '---'));
  return [head, line, ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}
