import type { CatalogueModel, Credential } from '@gateway/contracts';
import { keyPrincipal } from '../builders/principals.js';
import { fixedClock } from '../fixed-clock.js';
import { seededRandom } from '../seeded-random.js';
import { CatalogueReaderDouble } from './catalogue-reader-double.js';
import { EventLogDouble } from './event-log-double.js';
import { FundsDouble } from './funds-double.js';
import { LimitStoreDouble } from './limit-store-double.js';
import { PrefixedEventLog } from './prefixed-event-log.js';
import { PrincipalReaderDouble } from './principal-reader-double.js';

const unavailable = expect.objectContaining({ code: 'service_unavailable' });
const KEY = { kind: 'key' as const, id: 'key_1' };

function limitStore(): LimitStoreDouble {
  return new LimitStoreDouble({ clock: fixedClock('2026-03-01T12:00:00.000Z'), random: seededRandom(1) });
}

describe('the doubles of the ports', () => {
  it('principals: 401 for an unknown one, the cached record until it is reloaded, 503 while away', async () => {
    const principals = new PrincipalReaderDouble();
    const key: Credential = { kind: 'key', digest: 'ab'.repeat(32) };
    await expect(principals.resolve(key)).rejects.toThrow(expect.objectContaining({ code: 'unauthorized' }));
    principals.known.set(key.digest, keyPrincipal({ accountVersion: 2 }));
    principals.cached.set(key.digest, keyPrincipal());
    expect(await principals.resolve(key)).toMatchObject({ accountVersion: 1 });
    expect(await principals.reload(key)).toMatchObject({ accountVersion: 2 });
    expect(await principals.resolve(key)).toMatchObject({ accountVersion: 2 });
    principals.isUnavailable = true;
    await expect(principals.resolve(key)).rejects.toThrow(unavailable);
  });

  it('catalogue: each change is a new snapshot, reported once; old ones stay known', async () => {
    const catalogue = new CatalogueReaderDouble();
    const changes: string[] = [];
    const stop = catalogue.onChange(({ id }) => changes.push(id));
    const model = (id: string) => ({ record: { id }, routes: [] }) as unknown as CatalogueModel;
    catalogue.serve(model('a/1'), model('a/2'));
    const { id } = catalogue.snapshot();
    catalogue.serve(model('a/1'));
    stop();
    catalogue.serve(model('a/3'));
    expect(changes).toEqual(['snap_1', 'snap_2']);
    expect(catalogue.snapshot().models.map(({ record }) => record.id)).toEqual(['a/2', 'a/1', 'a/3']);
    expect((await catalogue.snapshotById(id))?.models).toHaveLength(2);
    expect(await catalogue.snapshotById('snap_9')).toBeNull();
  });

  it('limit store: a failing operation is 503, the others go on', async () => {
    const limits = limitStore();
    limits.failing.add('stamp');
    await expect(limits.stamp('acct_1', 1, null)).rejects.toThrow(unavailable);
    expect((await limits.read('acct_1', [])).reservedUnits).toBe(0);
    limits.failing.delete('stamp');
    await limits.stamp('acct_1', 2, null);
    expect(limits.stamps).toEqual([['acct_1', 2]]);
  });

  it('funds: a gate is seeded with what was spent and the balance; a credit counts once', async () => {
    const limits = limitStore();
    const funds = new FundsDouble(limits);
    funds.balanceNano = 7n;
    funds.spentByScope.set('key key_1', '1.25');
    const asked = { accountId: 'acct_1', accountVersion: 1, unitId: 'req_1/0', extra: [], leaseMs: 90_000 };
    const scopes = [{ ...KEY, rpm: null, rpd: null, tpm: null, capNano: 1n }];
    const money = { creditLimitNano: 0n, reservationNano: 1n, tokenEstimate: 0 };
    const first = await limits.admit({ ...asked, ...money, scopes });
    const gen = 'gen' in first ? first.gen : '';
    await funds.seedSpendLimit('acct_1', gen, [KEY]);
    const { posted = [] } = await limits.read('acct_1', [KEY]);
    expect(posted.map(({ nano }) => nano)).toEqual([1_250_000_000n, 7n]);
    expect(await funds.spent([KEY, { kind: 'org', id: 'org_1' }], 'acct_1')).toEqual(['1.25', '0']);
    const credit = { accountId: 'a', orgId: null, amountUsd: '5', kind: 'admin_grant' as const, source: 's' };
    await funds.credit(credit);
    await funds.credit(credit);
    expect(funds.credits).toEqual([credit]);
    funds.isUnavailable = true;
    await expect(funds.spent([KEY], null)).rejects.toThrow(unavailable);
  });

  it('event log: keeps what is appended; a prefixed one shows neither side the other’s names', async () => {
    const log = new EventLogDouble();
    const prefixed = new PrefixedEventLog(log, { prefix: 'p.', topic: (name) => `p.${name}` });
    await prefixed.append('t', [{ key: 'a', value: '{"data":{"n":1}}' }]);
    expect(log.dataOf('p.t')).toEqual([{ n: 1 }]);
    const topics: string[] = [];
    const handler = async (batch: { topic: string }[]): Promise<void> =>
      void topics.push(...batch.map(({ topic }) => topic));
    await prefixed.consume({ topics: ['t'], group: 'g', maxBatch: 1, lingerMs: 0, handler });
    const [subscription] = log.subscriptions;
    expect([subscription.topics, subscription.group]).toEqual([['p.t'], 'p.g']);
    await subscription.handler([{ topic: 'p.t', partition: 0, offset: '0', key: 'a', value: '{}' }]);
    expect(topics).toEqual(['t']);
  });
});
