import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keepFiles } from '../leftovers/keep.js';
import { endProgram, startBuilt } from './built-program.js';

export interface AllInOneOptions {
  /** Folder that stop() leaves; default: one that stop() removes. */
  dataDir?: string;
  env?: Record<string, string>;
  /** Program with its arguments that becomes the process. */
  through?: readonly string[];
}

/** A gateway that runs in one process. */
export interface AllInOne {
  /** The one public address, without a slash at the end. */
  url: string;
  /** An rsk_ key of an account with 100 USD. */
  key: string;
  admin: { email: string; password: string };
  readonly edgePid: number;
  outputs(): Record<string, string>;
  /** Stops it in order and removes its data. @returns what the process ended with */
  stop(): Promise<Record<string, number | string>>;
}

/** `npm start -- --json`, on a port and a data folder of its own. */
export async function startAllInOne(options: AllInOneOptions = {}): Promise<AllInOne> {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'all-in-one-'));
  const env = { HOST: '127.0.0.1', PORT: '0', GATEWAY_DATA_DIR: dataDir, ...options.env };
  const program = await startBuilt('all-in-one', {
    env,
    args: ['--json'],
    through: options.through,
    readyWhen: /^(\{"base_url".*\})$/m,
  });
  const line = JSON.parse(program.ready[1]) as {
    base_url: string;
    api_key: string;
    admin: AllInOne['admin'];
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
