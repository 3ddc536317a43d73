import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, runStack, type ReceivedHook, type RunStack } from '@gateway/testing';
import { ask } from './requests.js';
import { logIn } from './session.js';

/** An organization of one spec, on a gateway that all specs of the run share. */
export interface OwnOrganization extends RunStack {
  orgId: string;
  /** Name of the organization, which is nobody else's. */
  orgName: string;
  /** An rsk_ key of it, labelled `e2e`. */
  key: string;
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
  const stack = await runStack(kind);
  const { url } = stack;
  const root = await logIn(stack);
  const made = async (path: string, body: object): Promise<{ id: string }> => {
    const answer = await root.call('POST', path, body);
    if (!answer.ok) throw new Error(`POST ${path} answered ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as { id: string };
  };
  const orgName = `Organization ${randomUUID()}`;
  const { id: orgId } = await made('/v1/orgs', { name: orgName });
  await made('/v1/admin/credits', { org_id: orgId, amount_usd: '100', reason: 'a spec of its own' });
  const { key } = await (await logIn({ ...stack, orgId })).createKey('e2e');
  await eventually(async () => (await ask({ url, key }, 'GET', '/v1/balance')).body.balance_usd === '100', {
    timeoutMs: 60_000,
  });
  return { ...stack, key, orgId, orgName };
}

/** Webhooks of one organization, as they arrive. */
export interface Hook {
  /** Address of a channel. */
  destination: string;
  /** Returns what has been sent to it, oldest first. */
  arrived(): Promise<ReceivedHook[]>;
}

export function hookOf({ hooksUrl, orgId }: OwnOrganization): Hook {
  const destination = `${hooksUrl}/${orgId}`;
  return {
    destination,
    arrived: async () => (await (await fetch(destination)).json()) as ReceivedHook[],
  };
}

/** Returns the token of the link that was mailed to this address, which is nobody else's. Waits until the mail has come. */
export function mailedToken(
  { mailDir }: Pick<RunStack, 'mailDir'>,
  address: string,
  link: 'invite' | 'confirm',
): Promise<string> {
  const token = new RegExp(`/dashboard/${link}#token=(?:3D)?([\\w.-]+)`);
  const find = (): string | undefined =>
    readdirSync(mailDir)
      .filter((name) => name.endsWith('.eml'))
      .map((name) => readFileSync(join(mailDir, name), 'utf8').replace(/=\r?\n/g, ''))
      .filter((mail) => mail.includes(address))
      .map((mail) => token.exec(mail)?.[1])
      .find((found) => found !== undefined);
  return eventually(find, { timeoutMs: 60_000 });
}
