import { accessSync, constants, existsSync, mkdirSync, readFileSync, renameSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DataPaths } from './all-in-one.config.js';

const LOG_BYTES_MAX = 64 * 1024 * 1024;

/** Makes the folder, or says in one sentence why that cannot be. */
export function prepareDataFolder({ dir, logs, secrets, firstRun }: DataPaths): void {
  if (existsSync(dir) && !statSync(dir).isDirectory()) {
    throw new Error(`${dir} is not a folder: move it away, or set GATEWAY_DATA_DIR to another folder.`);
  }
  try {
    // PostgreSQL runs as a user of its own where this process is root, so others may pass, not read.
    makeFolder(dir, 0o711);
    accessSync(dir, constants.R_OK | constants.W_OK | constants.X_OK);
    makeFolder(logs, 0o700);
    accessSync(logs, constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw new Error(
      `The data folder ${dir} cannot be written by this user: give it the right, or set GATEWAY_DATA_DIR to a folder of its own.`,
      { cause },
    );
  }
  const isGone = !existsSync(secrets) && existsSync(firstRun);
  if (isGone || (existsSync(secrets) && !isJsonFile(secrets))) {
    throw new Error(
      `${secrets} is ${isGone ? 'gone' : 'broken'}: restore it from a backup, because the keys of ${dir} work with it alone, or begin with an empty GATEWAY_DATA_DIR.`,
    );
  }
}

/** One after the other: `recursive` of Node tries for ever in a folder that takes none, as /proc does not. */
function makeFolder(path: string, mode: number): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path), mode);
  mkdirSync(path, { mode });
}

function isJsonFile(path: string): boolean {
  try {
    JSON.parse(readFileSync(path, 'utf8'));
    return true;
  } catch {
    return false;
  }
}

/** The log of this run; a large one of earlier runs is put aside, and the one put aside before is dropped. */
export function logFile({ logs }: DataPaths): string {
  const file = join(logs, 'gateway.log');
  if (existsSync(file) && statSync(file).size > LOG_BYTES_MAX) renameSync(file, `${file}.1`);
  return file;
}
