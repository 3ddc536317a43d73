import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { freePorts } from '@gateway/testing';
import type { FleetUpstreams } from './fleet.js';
import { root, start, type Started } from './processes.js';

const PACKAGE = '@portkey-ai/gateway';
const VERSION = '1.15.2';
const INSTALL_MS = 180_000;
/** It listens on every interface; imported before it, this leaves it none but the loopback. */
const LOOPBACK = `import net from 'node:net';
const { listen } = net.Server.prototype;
net.Server.prototype.listen = function (port, _host, ...rest) {
  return listen.call(this, port, '127.0.0.1', ...rest);
};
`;

export interface Portkey {
  program: Started;
  url: string;
  /** It takes the upstream from the request. */
  plainHeaders: Record<string, string>;
  streamHeaders: Record<string, string>;
}

/**
 * Portkey's gateway, open source from npm, as a peer: no key, no limit, no billing, no log is asked of it. It is
 * installed below .cache without its install scripts. It runs without the environment of the bench, so it knows no
 * credential and no address but the upstreams.
 */
export async function startPortkey({ plain, streams }: FleetUpstreams): Promise<Portkey> {
  const folder = installed();
  const loopback = join(folder, 'loopback.mjs');
  writeFileSync(loopback, LOOPBACK);
  const [port] = await freePorts(1);
  const server = join(folder, 'node_modules', PACKAGE, 'build/start-server.js');
  const program = await start({
    args: ['--import', pathToFileURL(loopback).href, server, `--port=${port}`, '--headless'],
    env: { NODE_ENV: 'production' },
    inheritsEnvironment: false,
    readyWhen: /Ready for connections/,
  });
  const headersOf = (upstream: string): Record<string, string> => ({
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': `${upstream}/v1`,
  });
  const [plainHeaders, streamHeaders] = [plain, streams].map(headersOf);
  return { program, url: `http://127.0.0.1:${port}`, plainHeaders, streamHeaders };
}

/** The folder of the exact version, installed at its first use. */
function installed(): string {
  const folder = join(root, '.cache/bench', `portkey-${VERSION}`);
  if (existsSync(join(folder, 'node_modules', PACKAGE, 'package.json'))) return folder;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--save-exact'];
  execFileSync('npm', [...args, `${PACKAGE}@${VERSION}`], {
    cwd: folder,
    timeout: INSTALL_MS,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return folder;
}
