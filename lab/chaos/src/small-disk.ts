import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const SIZE = '64m';
const PIECE_BYTES = 65_536;

/** A real file system of 64 MiB at this folder; answers what unmounts it. Throws where this process may not mount. */
export function mountSmallDisk(folder: string): () => void {
  mkdirSync(folder, { recursive: true });
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE}`, 'tmpfs', folder], { stdio: 'pipe' });
  } catch (failure) {
    throw new Error(
      'This case needs a disk of its own to fill, and mounting a tmpfs is not allowed here: it takes root and CAP_SYS_ADMIN.',
      { cause: failure },
    );
  }
  return () => void execFileSync('umount', ['-l', folder], { stdio: 'pipe' });
}

/** Writes a file until the disk refuses (ENOSPC), to the last byte. */
export function fillDisk(folder: string): { empty(): void } {
  const path = join(folder, 'ballast');
  const file = openSync(path, 'w');
  try {
    for (let size = PIECE_BYTES; size >= 1;) {
      try {
        writeSync(file, Buffer.alloc(size));
      } catch (failure) {
        if (!(failure instanceof Error && 'code' in failure && failure.code === 'ENOSPC')) throw failure;
        size = Math.floor(size / 2);
      }
    }
  } finally {
    closeSync(file);
  }
  return { empty: () => rmSync(path) };
}
