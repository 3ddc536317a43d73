import { eventually, runStack } from '@gateway/testing';
import type { Gateway } from './gateway.js';
import { ask } from './requests.js';
import { logIn } from './session.js';

/** An organization of one spec, on a gateway that all specs of the run share. */
export interface OwnOrganization extends Pick<Gateway, 'url' | 'key' | 'admin'> {
  orgId: string;
}

/** A shared gateway, by the name of its kind. */
export type SharedMode = [name: string, organization: () => Promise<OwnOrganization>];

/** The two ways to run a shared gateway: suites run over both. */
export const SHARED_MODES: SharedMode[] = [
  ['all in one', () => ownOrganization('all-in-one')],
  ['the fleet', () => ownOrganization('fleet')],
];

/** Makes an organization with 100 USD and a key. Its owner is the first super admin. */
export async function ownOrganization(kind: 'all-in-one' | 'fleet'): Promise<OwnOrganization> {
  const { url, admin } = await runStack(kind);
  const root = await logIn({ url, admin });
  const made = async (path: string, body: object): Promise<{ id: string }> => {
    const answer = await root.call('POST', path, body);
    if (!answer.ok) throw new Error(`POST ${path} answered ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as { id: string };
  };
  const { id: orgId } = await made('/v1/orgs', { name: 'Of one spec' });
  await made('/v1/admin/credits', { org_id: orgId, amount_usd: '100', reason: 'a spec of its own' });
  const { key } = await (await logIn({ url, admin, orgId })).createKey('e2e');
  await eventually(async () => (await ask({ url, key }, 'GET', '/v1/balance')).body.balance_usd === '100', {
    timeoutMs: 60_000,
  });
  return { url, admin, key, orgId };
}
