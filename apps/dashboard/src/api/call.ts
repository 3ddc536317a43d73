import createClient, { type Middleware } from 'openapi-fetch';
import { session } from './session.js';
import type { paths } from './generated/schema.js';
import { isUndecided, Problem, problemOf, unreachable } from './problem.js';

/** Adds the session's token, and renews it once where the gateway rejects it. */
async function signedFetch(request: Request): Promise<Response> {
  const again = request.clone();
  const used = session.get();
  const first = await fetch(withToken(request));
  if (first.status !== 401 || used.state !== 'in' || session.get().state !== 'in') return first;
  const failure = await session.refresh(used.token);
  if (failure === null) return fetch(withToken(again));
  // Nobody has rejected the session: what would renew the token is away.
  if (isUndecided(failure)) throw failure;
  return first;
}

function withToken(request: Request): Request {
  for (const [name, value] of Object.entries(session.authorization())) request.headers.set(name, value);
  return request;
}

const rejectProblems: Middleware = {
  async onResponse({ response }) {
    if (response.ok) return undefined;
    throw await problemOf(response.clone());
  },
  onError: ({ error }) => (error instanceof Problem ? error : unreachable()),
};

/** The gateway's API, typed by its own OpenAPI document. Every failure is thrown as a Problem. */
export const api = createClient<paths>({ baseUrl: '/', fetch: signedFetch });
api.use(rejectProblems);

/** The body of an answer that succeeded. */
export async function bodyOf<T>(call: Promise<{ data?: T }>): Promise<T> {
  // A 204 has none, and its type says so.
  return (await call).data as T;
}
