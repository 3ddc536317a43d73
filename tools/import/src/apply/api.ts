/** A gateway, and the session of a super admin there. */
export interface Gateway {
  url: string;
  token: string;
  fetch: typeof fetch;
  /** Resolves after a time. */
  wait(ms: number): Promise<void>;
}

/** A call that was refused, in words for people. */
export class Refused extends Error {}

const TIMEOUT_MS = 30_000;
const TRIES = 6;
const WAIT_MAX_MS = 60_000;
const SHOWN_MAX = 1_000;

type Answer = Record<string, unknown>;

/**
 * Makes something once: the same key is answered as the first time. Sent again where the gateway is busy or away, which
 * the key makes safe. Rejects with Refused.
 */
export async function create(
  gateway: Gateway,
  path: string,
  body: object,
  idempotencyKey: string,
): Promise<Answer> {
  return send(gateway, 'POST', path, { body, headers: { 'idempotency-key': idempotencyKey } });
}

/** Rejects with Refused. Both calls may be repeated: a suspended key stays one, a new secret replaces the last. */
export async function send(
  gateway: Gateway,
  method: 'POST' | 'DELETE',
  path: string,
  { body, headers = {} }: { body?: object; headers?: Record<string, string> } = {},
): Promise<Answer> {
  for (let tries = 1; ; tries += 1) {
    const answer = await tryOnce(gateway, method, path, { body, headers });
    const isBusy = answer === null || answer.status === 429 || answer.status === 503;
    if (!isBusy || tries === TRIES) return answered(answer, `${method} ${path}`);
    const seconds = Number(answer?.headers.get('retry-after') ?? 2 ** tries / 2);
    await gateway.wait(Math.min((seconds > 0 ? seconds : 1) * 1_000, WAIT_MAX_MS));
  }
}

async function tryOnce(
  { url, token, fetch }: Gateway,
  method: string,
  path: string,
  { body, headers }: { body?: object; headers: Record<string, string> },
): Promise<Response | null> {
  try {
    return await fetch(`${url.replace(/\/+$/, '')}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body ?? {}),
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  } catch (failure) {
    // Fetch rejects with this where no answer came.
    if (failure instanceof TypeError || (failure instanceof Error && failure.name === 'TimeoutError'))
      return null;
    throw failure;
  }
}

async function answered(answer: Response | null, what: string): Promise<Answer> {
  if (answer === null) throw new Refused(`${what}: the gateway does not answer`);
  const text = await answer.text();
  if (!answer.ok) throw new Refused(`${what} was answered ${answer.status}: ${text.slice(0, SHOWN_MAX)}`);
  return text === '' ? {} : (JSON.parse(text) as Answer);
}
