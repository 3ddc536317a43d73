import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { ConfigError } from './load-config.js';

/** True where this user may write into the folder or, where it is not there yet, may make it. */
export function isWritableFolder(path: string): boolean {
  let folder = resolve(path);
  try {
    while (!existsSync(folder)) folder = dirname(folder);
    accessSync(folder, constants.W_OK | constants.X_OK);
    return statSync(folder).isDirectory();
  } catch {
    return false; // Not for this user, or gone meanwhile.
  }
}

/** Checks a file that the start is going to make. Throws ConfigError where it could not. */
export function requireMakeable(name: string, path: string): void {
  const folder = dirname(path);
  if (!isWritableFolder(folder))
    throw new ConfigError([`${name}: ${folder} is no folder that this user may write, or may make`]);
}
