import { SystemRandom } from '@gateway/platform';
import { DirectoryDouble, FixedClock } from '@gateway/testing';
import { UsageDatabase } from '../postgres/usage-database.js';
import { ContentsStore } from './contents.store.js';

/**
 * One round of the retention of contents in a process of its own, which may be killed at any time: `<database> <moment>
 * <organization that keeps them a day from then on>`.
 */
const [, , url, moment, orgId] = process.argv;

const database = new UsageDatabase({ url, maxConnections: 1, onIdleError: () => undefined });
const directory = new DirectoryDouble();
directory.promises[orgId] = [{ until: null, days: 1 }];
const random = new SystemRandom();
const contents = new ContentsStore(database, null, directory, new FixedClock(moment), random);
process.stdout.write('begun\n');
await contents.removeOld();
process.stdout.write('done\n');
await database.onApplicationShutdown();
