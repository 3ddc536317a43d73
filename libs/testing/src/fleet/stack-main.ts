// `stack-main.js all-in-one|fleet`, started by the guard of a run (tools/infra): starts one whole gateway, prints what specs
// of the run need of it as one line of JSON (RunStack) for each line that it reads, and stops it in order when standard
// input ends.
import 'reflect-metadata';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { eventually } from '../eventually.js';
import { testPostgres } from '../test-postgres.js';
import { startAllInOne } from './all-in-one.js';
import { startFleet } from './fleet.js';
import { startHookReceiver } from './hook-receiver.js';
import type { RunStack } from './run-stack.js';
import { sharedToken } from './shared-token.js';

const kind = process.argv[2];
/** Settings for a machine that stands still, where Redis is late and not away. */
const PATIENT = { REDIS_COMMAND_TIMEOUT_MS: '5000' };
/** Key with which contents of requests can be stored. */
const USAGE_KEK = Buffer.alloc(32, 5).toString('base64');

const mailDir = mkdtempSync(join(tmpdir(), 'run-mail-'));
const hooks = await startHookReceiver();
const env = { MAIL_DIR: mailDir, ALERTS_ALLOW_PRIVATE: hooks.place };
const { stop, ...stack } = await (kind === 'fleet' ? fleet() : allInOne());
const token = sharedToken(() => sessionOf(stack), Date.now);
for await (const _line of createInterface({ input: process.stdin })) {
  const described: RunStack = {
    ...stack,
    ...{ token: await token(), mailDir, hooksUrl: `http://${hooks.place}` },
  };
  process.stdout.write(`${JSON.stringify(described)}\n`);
}
await stop();
hooks.close();
rmSync(mailDir, { recursive: true, force: true });
process.exit();

/** Logs in. A machine that is busy answers 503 for a while. */
function sessionOf({ url, admin }: Pick<RunStack, 'url' | 'admin'>): Promise<string> {
  const login = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(admin),
  };
  return eventually(
    async () => {
      const answer = await fetch(`${url}/auth/login`, login);
      if (!answer.ok) throw new Error(`/auth/login answered ${answer.status}: ${await answer.text()}`);
      return ((await answer.json()) as { token: string }).token;
    },
    { timeoutMs: 60_000 },
  );
}

async function allInOne() {
  const database = await testPostgres();
  const gateway = await startAllInOne({
    env: { ...env, USAGE_KEK, DATABASE_URL: database.url },
  });
  return {
    ...{ url: gateway.url, admin: gateway.admin, databaseUrl: database.url },
    stop: async () => {
      await gateway.stop();
      await database.drop();
    },
  };
}

async function fleet() {
  const services = await startFleet({ env: { all: { ...PATIENT, ...env } } });
  return {
    ...{ url: services.urls.edge, admin: await services.firstLogin(), databaseUrl: services.databaseUrl },
    stop: () => services.stop(),
  };
}
