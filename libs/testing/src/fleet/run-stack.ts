import { askGuard } from '../guard-client.js';

/** The whole gateway of a kind that all specs of a run share. */
export interface RunStack {
  /** The one public address, without a slash at the end. */
  url: string;
  /** The first super admin. */
  admin: { email: string; password: string };
  /** Token of a session of the first super admin, which lives: specs share it, for logins of an IP are bounded. */
  token: string;
  databaseUrl: string;
  /** Folder of the mails that it sends, one file each. */
  mailDir: string;
  /** Address to which it may send webhooks; a GET answers what was sent to that path (ReceivedHook[]). */
  hooksUrl: string;
}

/**
 * Returns the one all-in-one or the one fleet of this run. It starts when a spec first asks, and ends with the run. A spec
 * takes an organization of its own on it, and breaks nothing that others see.
 */
export async function runStack(kind: 'all-in-one' | 'fleet'): Promise<RunStack> {
  return (await askGuard('/stack', { kind })) as unknown as RunStack;
}
