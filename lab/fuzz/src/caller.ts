import type { Caller } from './fuzz-request.js';
import type { Login } from './target.js';

export interface Person extends Caller {
  orgId: string;
  /** Fresh while the run lasts; a session token lives 15 minutes. */
  renew(): Promise<void>;
  /** Returns the amount that is reserved and not settled, as GET /v1/balance says. */
  reservedUsd(): Promise<string>;
}

/** A key may do a thousand requests a minute. */
const KEYS = 64;
/** Keys that requests may change, rotate and delete. */
const VICTIMS = 40;

/** Logs in and makes the keys of a run. */
export async function logIn(url: string, admin: Login): Promise<Person> {
  const first = await post(url, '/auth/login', admin);
  let token = tokenOf(first.body);
  let cookie = first.cookie;
  const get = async (path: string): Promise<Record<string, unknown>> =>
    read(await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } }));
  const me = (await get('/auth/me')) as { memberships: { org_id: string }[] };
  const orgId = me.memberships[0].org_id;
  const create = async (label: string): Promise<{ id: string; key: string }> => {
    const made = await post(url, '/v1/keys', { label, org_id: orgId, spend_cap_usd: '1000000' }, token);
    return made.body as { id: string; key: string };
  };
  const made: { id: string; key: string }[] = [];
  for (let at = 0; at < KEYS + VICTIMS; at += 1) made.push(await create(`fuzz ${at}`));
  const victims = made.slice(KEYS).map(({ id }) => id);
  return {
    orgId,
    keys: made.slice(0, KEYS).map(({ key }) => key),
    session: () => token,
    words: {
      model: ['simulator/chat', 'simulator/claude', 'simulator/none'],
      default_model: ['simulator/chat', null],
      org_id: [orgId, 'mine', 'org_00000000-0000-7000-8000-000000000000'],
      id: victims,
      brand: ['simulator', 'openai'],
      name: ['chat', 'claude'],
      fixed_provider: ['simulated', null],
      tool_choice: ['auto', 'none', undefined],
      // What the simulated provider cannot fetch or hear is not what is looked for here.
      temperature: [0, 1, 2],
    },
    renew: async () => {
      const renewed = await post(url, '/auth/refresh', { refresh_token: cookie });
      token = tokenOf(renewed.body);
      cookie = renewed.cookie;
    },
    reservedUsd: async () => String((await get(`/v1/balance?org_id=${orgId}&refresh=true`)).reserved_usd),
  };
}

async function post(
  url: string,
  path: string,
  body: object,
  token?: string,
): Promise<{ body: Record<string, unknown>; cookie: string }> {
  const authorization: Record<string, string> =
    token === undefined ? {} : { authorization: `Bearer ${token}` };
  const headers = { 'content-type': 'application/json', ...authorization };
  const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  const cookie = /^[^=]+=([^;]*)/.exec(answer.headers.getSetCookie()[0] ?? '')?.[1] ?? '';
  return { body: await read(answer), cookie };
}

async function read(answer: Response): Promise<Record<string, unknown>> {
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${answer.url} answered ${answer.status}: ${text}`);
  return JSON.parse(text) as Record<string, unknown>;
}

function tokenOf(body: Record<string, unknown>): string {
  return String(body.token);
}
