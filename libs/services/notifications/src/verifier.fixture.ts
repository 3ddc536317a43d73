import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { repository } from '@gateway/testing';

/** The program of docs/webhooks.md, in another language than ours. */
const VERIFIER = join(repository, 'docs/webhooks/verify.py');

export interface Asked {
  secrets: string[];
  headers: Record<string, unknown>;
  body: string;
  now?: number;
}

/** Returns the verdict on each: `valid`, or the reason against it. */
export function verdicts(...deliveries: Asked[]): string[] {
  const input = deliveries.map((delivery) => JSON.stringify(delivery)).join('\n');
  const { stdout, stderr, status } = spawnSync('python3', [VERIFIER], {
    input,
    encoding: 'utf8',
    timeout: 120_000,
    maxBuffer: 64 * 1_048_576,
  });
  if (status !== 0) throw new Error(stderr);
  return stdout.trim().split('\n');
}
