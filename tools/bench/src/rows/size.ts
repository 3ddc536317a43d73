import { figureOf, row, type Row } from '../figures.js';
import { costOn, warmUp, type Lab } from '../lab.js';
import { load } from '../load.js';
import { makeKeys } from '../many-keys.js';
import { plainBodyOf } from './plain.js';

const ACCOUNTS = [1, 1_000];

/** The same load over ever more keys, and over keys of ever more accounts: what a cache that is too small would cost. */
export async function sizeRows(lab: Lab): Promise<Row[]> {
  const { options, fleet } = lab;
  const rows: Row[] = [];
  for (const keys of options.keys) {
    for (const accounts of ACCOUNTS.filter((count) => count <= keys)) {
      const secrets = keys === 1 ? [fleet.key] : await makeKeys(fleet, keys, accounts);
      rows.push(await rowOf(lab, secrets, accounts));
    }
  }
  return rows;
}

/** Services that have just started take some hundred first uses a second. */
const firstUseSeconds = (keys: number): number => Math.max(4, Math.ceil(keys / 100));

async function rowOf(lab: Lab, keys: readonly string[], accounts: number): Promise<Row> {
  const { gateway, options } = lab;
  const body = plainBodyOf(gateway);
  await warmUp(lab, gateway, body);
  // Every key once, before anything is measured: the first use of a key asks the keys service, and the ledger.
  const first = { url: gateway.url, keys, body, connections: 16, seconds: firstUseSeconds(keys.length) };
  const { errors } = await load(first);
  const rps: number[] = [];
  const main: number[] = [];
  for (let round = 0; round < options.rounds; round += 1) {
    const cost = await costOn(gateway, body, options.seconds, keys);
    rps.push(cost.requestsPerSecond);
    main.push(cost.mainUs);
  }
  return row({
    id: `size-${keys.length}-${accounts}`,
    figure: `${keys.length.toLocaleString('en-US')} keys of ${accounts.toLocaleString('en-US')} accounts`,
    unit: 'requests/s',
    gateway: figureOf(rps, 'more'),
    note: `main thread ${figureOf(main, 'less').median.toFixed(0)} µs/request${errors > 0 ? `; ${errors} errors while the keys were used for the first time` : ''}`,
  });
}
