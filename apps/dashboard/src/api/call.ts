import createClient, { type Middleware } from 'openapi-fetch';
import { session } from './session.js';
import type { paths } from './generated/schema.js';
import { problemOf, unreachable } from './problem.js';

/** Adds the session's token, and renews it once where the gateway refuses it. */
async function signedFetch(request: Request): Promise<Response> {
  const again = request.clone();
  const first = await fetch(withToken(request));
  if (first.status !== 401 || session.get().state !== 'in') return first;
  return (await session.refresh()) ? fetch(withToken(again)) : first;
}

function withToken(request: Request): Request {
  for (const [name, value] of Object.entries(session.authorization())) request.headers.set(name, value);
  return request;
}

const refuseProblems: Middleware = {
  async onResponse({ response }) {
    if (response.ok) return undefined;
    const text = await response.clone().text();
    throw problemOf(response, parsed(text));
  },
  onError: () => unreachable(),
};

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The gateway's API, typed by its own OpenAPI document. Every failure is thrown as a Problem. */
export const api = createClient<paths>({ baseUrl: '/', fetch: signedFetch });
api.use(refuseProblems);

/** The body of an answer that succeeded. */
export async function bodyOf<T>(call: Promise<{ data?: T }>): Promise<T> {
  // A 204 has none, and its type says so.
  return (await call).data as T;
}
