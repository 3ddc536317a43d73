import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endProgram, keepFiles, startBuilt } from '@gateway/testing';
import type { Gateway } from './gateway.js';

export interface AllInOneOptions {
  /** Kept by stop(); default: a folder that stop() removes. */
  dataDir?: string;
  env?: Record<string, string>;
}

/** `npm start -- --json`, on a port and a data folder of its own. */
export async function startAllInOne(options: AllInOneOptions = {}): Promise<Gateway> {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'all-in-one-'));
  const env = { HOST: '127.0.0.1', PORT: '0', GATEWAY_DATA_DIR: dataDir, ...options.env };
  const program = await startBuilt('all-in-one', {
    env,
    args: ['--json'],
    readyWhen: /^(\{"base_url".*\})$/m,
  });
  const line = JSON.parse(program.ready[1]) as {
    base_url: string;
    api_key: string;
    admin: Gateway['admin'];
  };
  return {
    url: line.base_url,
    key: line.api_key,
    admin: line.admin,
    edgePid: program.pid,
    outputs: () => ({ 'all-in-one': program.output() }),
    stop: async () => {
      const ended = await endProgram(program);
      keepFiles('logs', join(dataDir, 'logs'));
      keepFiles('journals', join(dataDir, 'journal'));
      if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
      return { 'all-in-one': ended };
    },
  };
}
