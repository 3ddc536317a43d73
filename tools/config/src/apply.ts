import type { Plan } from './plan.js';

/** A running fleet, and a session or admin token of a super admin there. */
export interface Fleet {
  url: string;
  token: string;
}

const TIMEOUT_MS = 30_000;
const PAGE = 200;
/** The platform and a file have 1,000 each. */
const ALIASES_MAX = 2_000;

/** Brings the plan to the fleet through its admin endpoints, one by one. Rejects at the first that is refused. */
export async function apply(
  { providers, models, prices, organizations, aliases }: Plan,
  fleet: Fleet,
): Promise<void> {
  for (const { slug, name, dialects } of providers)
    await send(fleet, 'PUT', `/v1/admin/providers/${slug}`, { name, dialects });
  for (const { id, brand: _brand, ...model } of models)
    await send(fleet, 'PUT', `/v1/admin/models/${id}`, model);
  for (const { id, routes } of prices) await send(fleet, 'PATCH', `/v1/admin/models/${id}`, { routes });
  if (Object.keys(organizations).length > 0)
    await send(fleet, 'PUT', '/v1/admin/organization-defaults', organizations);
  if (aliases.length === 0) return;
  const ids = await writtenAliases(fleet);
  for (const { name, ...alias } of aliases) {
    const id = ids.get(name);
    if (id === undefined) await send(fleet, 'POST', '/v1/admin/aliases', { name, ...alias });
    else await send(fleet, 'PATCH', `/v1/admin/aliases/${id}`, alias);
  }
}

/** Returns the ids of the platform's aliases by name, without those that a file of the fleet names. */
async function writtenAliases(fleet: Fleet): Promise<ReadonlyMap<string, string>> {
  const ids = new Map<string, string>();
  for (let offset = 0; offset <= ALIASES_MAX; offset += PAGE) {
    const page = (await send(
      fleet,
      'GET',
      `/v1/admin/aliases?limit=${PAGE}&offset=${offset}`,
    )) as Partial<AliasPage>;
    const { data = [] } = page;
    for (const { id, name, created_by } of data) if (created_by !== null) ids.set(name, id);
    if (data.length < PAGE) break;
  }
  return ids;
}

interface AliasPage {
  data: { id: string; name: string; created_by: string | null }[];
}

async function send(
  { url, token }: Fleet,
  method: 'GET' | 'PUT' | 'PATCH' | 'POST',
  path: string,
  body?: object,
): Promise<unknown> {
  const response = await fetch(`${url.replace(/\/+$/, '')}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (!response.ok)
    throw new Error(
      `${method} ${path} was answered ${response.status}: ${(await response.text()).slice(0, 2_000)}`,
    );
  return response.json();
}
