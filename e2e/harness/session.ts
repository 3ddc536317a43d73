import { randomUUID } from 'node:crypto';
import type { Gateway } from './gateway.js';
import { answered } from './requests.js';

/** A person who is logged in. */
export interface PersonSession {
  token: string;
  /** The person's first organization. */
  orgId: string;
  /** A 503 that says so is sent again, under one key of idempotency. */
  call(method: string, path: string, body?: object): Promise<Response>;
  /** A key that this organization pays for. */
  createKey(label: string, more?: object): Promise<{ id: string; key: string }>;
}

/**
 * Logs a person in, by default the first super admin. `orgId` is the organization that stands for their first one;
 * `token` is that of a session that is there already.
 * @throws Error with the answer where that fails
 */
export async function logIn({
  url,
  admin,
  orgId: chosen,
  token: known,
}: Pick<Gateway, 'url' | 'admin'> & { orgId?: string; token?: string }): Promise<PersonSession> {
  // A machine that is busy, or starts everything at once, answers 503 for a while.
  const send = (method: string, path: string, body?: object, token?: string): Promise<Response> => {
    const headers = {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}`, 'idempotency-key': randomUUID() }),
    };
    return answered(() =>
      fetch(`${url}${path}`, {
        method,
        headers,
        body: body === undefined ? undefined : JSON.stringify(body),
      }),
    );
  };
  const token = known ?? (await parsed<{ token: string }>(await send('POST', '/auth/login', admin))).token;
  const call = (method: string, path: string, body?: object): Promise<Response> =>
    send(method, path, body, token);
  const me = await parsed<{ memberships: { org_id: string }[] }>(await call('GET', '/auth/me'));
  const orgId = chosen ?? me.memberships[0].org_id;
  return {
    token,
    orgId,
    call,
    createKey: async (label, more = {}) =>
      parsed(await call('POST', '/v1/keys', { label, org_id: orgId, ...more })),
  };
}

async function parsed<T>(answer: Response): Promise<T> {
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${answer.url} answered ${answer.status}: ${text}`);
  return JSON.parse(text) as T;
}
