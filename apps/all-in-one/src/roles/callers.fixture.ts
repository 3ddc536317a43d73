import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '@gateway/testing';
import type { Client } from 'pg';

/**
 * The callers of the table. The roles are those of one organization; `exact` is a key whose one permission is the one
 * that is needed.
 */
export const ROLES = [
  'owner',
  'admin',
  'member',
  'outsider',
  'super_admin',
  'rsk',
  'exact_rsk',
  'scoped_rsk',
  'mak',
  'scoped_mak',
  'suspended',
  'expired',
  'none',
] as const;
export type Role = (typeof ROLES)[number];

/** Scopes of `scoped_rsk` and `scoped_mak`, which may do nothing else. */
export const SCOPED = { rsk: 'models:read', mak: 'alerts:read' } as const;

const MAK_SCOPES = ['keys:read', 'keys:write', 'usage:read', 'members:read', 'alerts:read', 'alerts:write'];

/** Members of answers that the table reads. */
interface AnswerBody {
  id?: string;
  token?: string;
  key?: string;
  user?: { id: string };
  memberships?: { org_id: string }[];
  data?: { id: string }[];
  events?: { id: string; request_id: string }[];
  error?: { code: string };
  [field: string]: unknown;
}

export interface Answer {
  status: number;
  text: string;
  body: AnswerBody;
}

interface Person {
  userId: string;
  token: string;
}

/** Two organizations, who belongs to them and with what they call. */
export interface Scene {
  database: Client;
  call(method: string, path: string, as?: string, body?: unknown): Promise<Answer>;
  orgId: string;
  otherOrgId: string;
  people: Record<'owner' | 'admin' | 'member' | 'outsider' | 'super_admin' | 'stranger', Person>;
  /** Key of the other organization, as `rsk` is of the own one. */
  otherKey: string;
  credentialOf(role: Role, permission: string | null): string | undefined;
}

interface Start {
  url: string;
  admin: { email: string; password: string };
  mailFolder: string;
  database: Client;
}

const PASSWORD = 'a long enough password';
const LINK = /#token=(\S+)/;

type Done = (method: string, path: string, as?: string, body?: unknown) => Promise<AnswerBody>;

/** Everybody comes as people do: invited by mail, keys made over HTTP. The database alone lets a key be old. */
export async function setScene({ url, admin, mailFolder, database }: Start): Promise<Scene> {
  const call = caller(url);
  const done: Done = async (...request) => {
    const { status, text, body } = await call(...request);
    if (status >= 300) throw new Error(`${request[0]} ${request[1]} answered ${status}: ${text}`);
    return body;
  };
  const people = await gather(done, admin, mailFolder);
  const { owner, stranger, orgId, otherOrgId } = people;
  const key = async (as: Person, body: object): Promise<{ id: string; key: string }> => {
    const { id, key: secret } = await done('POST', '/v1/keys', as.token, { rpm: 1_000, ...body });
    return { id: String(id), key: String(secret) };
  };
  const permissions = new Map<string, string>();
  for (const permission of KEY_PERMISSIONS)
    permissions.set(permission, (await key(owner, { org_id: orgId, scopes: [permission] })).key);
  const suspended = await key(owner, { org_id: orgId });
  await done('DELETE', `/v1/keys/${suspended.id}`, owner.token);
  const expired = await key(owner, { org_id: orgId });
  await database.query('update keys.api_key set expires_at = to_timestamp(0) where id = $1', [expired.id]);
  const mak = async (scopes: readonly string[]): Promise<string> =>
    String((await done('POST', '/v1/admin-keys', owner.token, { org_id: orgId, scopes })).key);
  const credentials: Record<Exclude<Role, 'exact_rsk'>, string | undefined> = {
    ...{ owner: owner.token, admin: people.admin.token, member: people.member.token },
    ...{ outsider: people.outsider.token, super_admin: people.super_admin.token },
    rsk: (await key(owner, { org_id: orgId })).key,
    scoped_rsk: permissions.get(SCOPED.rsk),
    mak: await mak(MAK_SCOPES),
    scoped_mak: await mak([SCOPED.mak]),
    ...{ suspended: suspended.key, expired: expired.key, none: undefined },
  };
  return {
    ...{ database, call, orgId, otherOrgId, people },
    otherKey: (await key(stranger, { org_id: otherOrgId })).key,
    credentialOf: (role, permission) =>
      role === 'exact_rsk' ? (permissions.get(permission ?? '') ?? credentials.rsk) : credentials[role],
  };
}

type People = Scene['people'] & Pick<Scene, 'orgId' | 'otherOrgId'>;

/** The people of the table and their organizations, which have money. */
async function gather(done: Done, admin: Start['admin'], mailFolder: string): Promise<People> {
  const root = String((await done('POST', '/auth/login', undefined, admin)).token);
  const { user, memberships = [] } = await done('GET', '/auth/me', root);
  const first = memberships[0].org_id;
  const joins = async (name: string, inviter: string, orgId: string, role: string): Promise<Person> => {
    const email = `${name}@example.com`;
    await done('POST', `/v1/orgs/${orgId}/invitations`, inviter, { email, role });
    const token = await eventually(() => mailedToken(mailFolder, email), { timeoutMs: 60_000 });
    const body = { token, name, password: PASSWORD };
    const accepted = await done('POST', '/auth/invitations/accept', undefined, body);
    return { token: String(accepted.token), userId: String(accepted.user?.id) };
  };
  /** Comes by the first organization, makes one of their own and leaves the first. */
  const founder = async (name: string): Promise<Person & { orgId: string }> => {
    const person = await joins(name, root, first, 'member');
    const orgId = String((await done('POST', '/v1/orgs', person.token, { name: `Of ${name}` })).id);
    await done('DELETE', `/v1/orgs/${first}/members/${person.userId}`, person.token);
    const credit = { org_id: orgId, amount_usd: '100', reason: 'To call with' };
    await done('POST', '/v1/admin/credits', root, credit);
    return { ...person, orgId };
  };
  const owner = await founder('owner');
  const stranger = await founder('stranger');
  const { orgId } = owner;
  return {
    ...{ orgId, otherOrgId: stranger.orgId, owner, stranger },
    outsider: await founder('outsider'),
    admin: await joins('admin', owner.token, orgId, 'admin'),
    member: await joins('member', owner.token, orgId, 'member'),
    super_admin: { userId: String(user?.id), token: root },
  };
}

const KEY_PERMISSIONS = [
  ...['inference:write', 'models:read', 'usage:read', 'files:write', 'batches:write', 'videos:write'],
  ...['realtime:connect', 'search:write', 'templates:read', 'evaluate:write', 'end-users:write'],
];

/** A process that the machine leaves no time sheds with 503; the same call comes again. */
const TRIES_MAX = 100;
const AGAIN_MS = 300;

/** Each call comes from an address of its own, so that no bound on one address is met. */
function caller(url: string): Scene['call'] {
  let calls = 0;
  const once: Scene['call'] = async (method, path, as, body) => {
    calls += 1;
    const address = `10.${(calls >> 16) & 255}.${(calls >> 8) & 255}.${calls & 255}`;
    const answer = await fetch(`${url}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        'x-forwarded-for': address,
        ...(as === undefined ? {} : { authorization: `Bearer ${as}` }),
        ...(body === undefined || body instanceof FormData ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? undefined : body instanceof FormData ? body : JSON.stringify(body),
    });
    const text = await answer.text();
    return { status: answer.status, text, body: parsed(text) };
  };
  return async (...request) => {
    for (let tries = 1; ; tries += 1) {
      const answer = await once(...request);
      if (answer.body.error?.code !== 'service_unavailable' || tries === TRIES_MAX) return answer;
      await pause(AGAIN_MS);
    }
  };
}

function parsed(text: string): AnswerBody {
  try {
    const value = JSON.parse(text) as AnswerBody | null;
    return value ?? {};
  } catch {
    return {};
  }
}

function mailedToken(folder: string, email: string): string | null {
  const file = readdirSync(folder).find((name) => name.endsWith(`-${email}.eml`));
  return file === undefined ? null : (LINK.exec(readFileSync(join(folder, file), 'utf8'))?.[1] ?? null);
}
