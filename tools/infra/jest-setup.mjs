import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { spawnGuard } from './spawn-guard.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));

/** One guard per Jest run. No server starts before a test asks for it, so a run of pure tests costs nothing. */
export default function setup() {
  if (!isPrepared()) {
    console.error('Preparing what tests use; this happens once and may take some minutes.');
    const args = [
      '--no-warnings',
      '--import',
      pathToFileURL(join(here, 'run-ts.mjs')).href,
      join(here, 'src/prepare.ts'),
    ];
    spawnSync(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  }
  const { folder, guard } = spawnGuard();
  globalThis.gatewayInfraGuard = guard;
  // Workers inherit it; libs/testing reads it.
  process.env.GATEWAY_INFRA_SOCKET = `${folder}/guard.sock`;
}

/** A quick look, so that the usual run spends nothing on it. */
function isPrepared() {
  const hasRedis = process.env.REDIS_URL || isOnPath('redis-server');
  const hasBrowser = process.env.CHROMIUM_PATH || isOnPath('chromium');
  return Boolean(hasBrowser && hasRedis && (process.env.KAFKA_BROKERS || hasBroker()));
}

function hasBroker() {
  const cache = process.env.XDG_CACHE_HOME
    ? join(process.env.XDG_CACHE_HOME, 'model-gateway')
    : join(here, '../../.cache');
  const folder = join(cache, 'kafka');
  if (!isOnPath('java') || !existsSync(folder)) return false;
  return readdirSync(folder).some((version) => existsSync(join(folder, version, 'formatted')));
}

function isOnPath(program) {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
