import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, rmdirSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Gateway } from './gateway.js';
import { askOnce } from './requests.js';

/** Pause of a caller after each answer: three callers stay below 1,000 requests a minute. */
const PAUSE_MS = 200;
const BODY = { model: 'simulator/chat', messages: [{ role: 'user', content: 'Is there room?' }] };

/** A small file system of its own, which only root may mount. */
export class SmallDisk {
  readonly path = mkdtempSync(join(tmpdir(), 'full-disk-'));
  private readonly filler = join(this.path, 'filler');

  constructor(size: string) {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', this.path]);
  }

  /** Takes every byte that is left. */
  fill(): void {
    const file = openSync(this.filler, 'a');
    try {
      for (const bytes of [Buffer.alloc(1024 * 1024), Buffer.alloc(4096)])
        try {
          for (;;) writeSync(file, bytes);
        } catch (failure) {
          if ((failure as NodeJS.ErrnoException).code !== 'ENOSPC') throw failure;
        }
    } finally {
      closeSync(file);
    }
  }

  /** Gives back what `fill` took, if anything. */
  free(): void {
    rmSync(this.filler, { force: true });
  }

  /** Takes it away, also under a process that still has a file of it open. */
  remove(): void {
    execFileSync('umount', ['--lazy', this.path]);
    rmdirSync(this.path);
  }
}

/** Sets how many files a process may have open from now on. */
export function limitOpenFiles(pid: number, count: number): void {
  execFileSync('prlimit', ['--pid', String(pid), `--nofile=${count}:`]);
}

/** Statuses of a few callers, one request after the other each, until told to end. */
export function callers(gateway: Gateway): { statuses: number[]; end(): Promise<void> } {
  const statuses: number[] = [];
  let isOver = false;
  const call = async (): Promise<void> => {
    while (!isOver) {
      // 0 = no answer: without a descriptor no connection is accepted.
      const status = await askOnce(gateway, 'POST', '/v1/chat/completions', { body: BODY }).then(
        (answer) => answer.status,
        () => 0,
      );
      statuses.push(status);
      await pause(PAUSE_MS);
    }
  };
  const all = [call(), call(), call()];
  return {
    statuses,
    end: async () => {
      isOver = true;
      await Promise.all(all);
    },
  };
}
