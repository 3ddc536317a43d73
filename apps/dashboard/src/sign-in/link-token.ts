let read: string | null = null;

/**
 * The token of a link from a mail. It stands behind the `#`, which no server sees, and is taken out of the address; a page
 * that is drawn anew still has it.
 */
export function linkToken(): string | null {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  if (token !== null) {
    read = token;
    history.replaceState(history.state, '', location.pathname + location.search);
  }
  return read;
}
