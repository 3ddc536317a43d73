import type { Plan } from './plan.js';

/** A running fleet, and a session or admin token of a super admin there. */
export interface Fleet {
  url: string;
  token: string;
}

const TIMEOUT_MS = 30_000;

/** Brings the plan to the fleet through its admin endpoints, one by one. Rejects at the first that is refused. */
export async function apply({ providers, models, prices, organizations }: Plan, fleet: Fleet): Promise<void> {
  for (const { slug, name, dialects } of providers)
    await send(fleet, 'PUT', `/v1/admin/providers/${slug}`, { name, dialects });
  for (const { id, brand: _brand, ...model } of models)
    await send(fleet, 'PUT', `/v1/admin/models/${id}`, model);
  for (const { id, routes } of prices) await send(fleet, 'PATCH', `/v1/admin/models/${id}`, { routes });
  if (Object.keys(organizations).length > 0)
    await send(fleet, 'PUT', '/v1/admin/organization-defaults', organizations);
}

async function send(
  { url, token }: Fleet,
  method: 'PUT' | 'PATCH',
  path: string,
  body: object,
): Promise<void> {
  const response = await fetch(`${url.replace(/\/+$/, '')}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (!response.ok)
    throw new Error(
      `${method} ${path} was answered ${response.status}: ${(await response.text()).slice(0, 2_000)}`,
    );
}
