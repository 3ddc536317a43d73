import { mintSecret, SystemRandom } from '@gateway/platform';
import { sessionPrincipal, testDatabase } from '@gateway/testing';
import { limitedKey, MIGRATED, startUsageApp, type UsageApp } from '../usage.fixture.js';
import { emptyTables } from '../postgres/emptied-tables.fixture.js';

const random = new SystemRandom();
/** Secret of key_1, called "Batch jobs". */
export const secret = mintSecret('rsk_', random);
/** Secret of key_2, which the member usr_2 has made. */
export const otherSecret = mintSecret('rsk_', random);
const TABLES =
  'shadow_unit, usage_slot, usage_hour, usage_day, usage_tag, usage_tag_day, usage_tag_sum, usage_event, rejection, spend_hour, spend_total, producer, dead_letter';

/** The context of reads of the organization. */
export const ORG = { org_id: 'org_1' };
/** A session of `owner`, `member`, `outsider` or `superAdmin`. */
export const tokenOf = (name: string): string => `eyJ${name}.eyJ${name}.${name}`;

/** The service with an organization's two keys and three people, and the reads that most specs ask for. */
export interface ReadsUnderTest {
  app: UsageApp;
  summary(as: string | null, body?: object): ReturnType<UsageApp['call']>;
  events(as: string | null, body?: object): ReturnType<UsageApp['call']>;
  lookup(as: string, id: string): ReturnType<UsageApp['call']>;
  /** Empties what postings and rejections have written. */
  clear(): Promise<unknown>;
  close(): Promise<void>;
}

export async function startReads(): Promise<ReadsUnderTest> {
  const database = await testDatabase(MIGRATED);
  const app = await startUsageApp(database.url);
  app.directory.known.keys = { key_1: 'Batch jobs' };
  const { principals } = app;
  principals.add(secret, limitedKey());
  principals.add(otherSecret, limitedKey({ keyId: 'key_2', createdBy: 'usr_2' }));
  const membership = { orgId: 'org_1', accountId: 'acct_1', teams: [] };
  principals.add(
    tokenOf('owner'),
    sessionPrincipal({ userId: 'usr_9', memberships: [{ ...membership, role: 'owner' }] }),
  );
  principals.add(
    tokenOf('member'),
    sessionPrincipal({ userId: 'usr_2', memberships: [{ ...membership, role: 'member' }] }),
  );
  principals.add(tokenOf('superAdmin'), sessionPrincipal({ userId: 'usr_7', isSuperAdmin: true }));
  principals.add(tokenOf('outsider'), sessionPrincipal({ userId: 'usr_8' }));
  return {
    app,
    summary: (as, body = ORG) => app.call('POST', '/v1/usage', as, body),
    events: (as, body = ORG) => app.call('POST', '/v1/usage/events', as, body),
    lookup: (as, id) => app.call('GET', `/v1/usage/requests/${id}`, as),
    clear: () => emptyTables(app.database.pool, TABLES),
    close: async () => {
      await app.close();
      await database.drop();
    },
  };
}
