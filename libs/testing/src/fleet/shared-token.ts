/** Milliseconds for which a token is handed on. Tokens of sessions live 15 minutes: who asks gets one with 13 left. */
const SHARED_MS = 2 * 60_000;

/** Returns a function that hands a token on for two minutes, and then makes the next: logins of an IP are bounded. */
export function sharedToken(make: () => Promise<string>, now: () => number): () => Promise<string> {
  let token = '';
  let until = -Infinity;
  return async () => {
    if (now() >= until) {
      token = await make();
      until = now() + SHARED_MS;
    }
    return token;
  };
}
