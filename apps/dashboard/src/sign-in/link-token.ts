/** The token of a link from a mail. It stands behind the `#`, which no server sees, and is taken out of the address. */
export function linkToken(): string | null {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  if (token !== null) history.replaceState(history.state, '', location.pathname + location.search);
  return token;
}
