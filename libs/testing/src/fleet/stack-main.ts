// `stack-main.js all-in-one|fleet`, started by the guard of a run (tools/infra): starts one whole gateway, prints its address
// and its first super admin as one line of JSON, and stops it in order when standard input ends.
import 'reflect-metadata';
import { once } from 'node:events';
import { startAllInOne } from './all-in-one.js';
import { startFleet } from './fleet.js';

const kind = process.argv[2];
/** Settings for a machine that stands still, where Redis is late and not away. */
const PATIENT = { REDIS_COMMAND_TIMEOUT_MS: '5000' };
/** Key with which contents of requests can be stored. */
const USAGE_KEK = Buffer.alloc(32, 5).toString('base64');

// Before the start: standard input may end meanwhile.
const ended = once(process.stdin.resume(), 'close');
const stack = kind === 'fleet' ? await fleet() : await startAllInOne({ env: { USAGE_KEK } });
process.stdout.write(`${JSON.stringify({ url: stack.url, admin: stack.admin })}\n`);
await ended;
await stack.stop();
process.exit();

async function fleet() {
  const services = await startFleet({ env: { all: PATIENT } });
  return { url: services.urls.edge, admin: await services.firstLogin(), stop: () => services.stop() };
}
