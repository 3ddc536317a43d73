import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repository } from '@gateway/testing/plain';

const run = promisify(execFile);
/** Time of a block on a machine that runs other specs beside it. */
const BLOCK_MS = 120_000;
/** A command that a test cannot run: it starts a gateway, a bench or a stack of containers. */
const STARTS = /^(?:npm (?:start|test|run|install)|docker|GATEWAY_\w+=\S+ npm)\b/m;
/** A curl of this machine may be missing: the stand-in takes the options that the documents use. */
const CURL = `curl() { node '${join(repository, 'e2e/harness/curl.mjs')}' "$@"; }`;

/** One block of shell in a page. */
export interface ShellBlock {
  /** Its first line, and the line of the page on which it stands. */
  title: string;
  script: string;
}

/** Every block of shell that calls a gateway, in the order of the page. */
export function shellBlocks(page: string): ShellBlock[] {
  const text = readFileSync(join(repository, page), 'utf8');
  return [...text.matchAll(/^```sh\n([^]*?)^```$/gm)]
    .map(({ 1: script, index }) => ({
      title: `line ${text.slice(0, index).split('\n').length + 1}: ${script.split('\n')[0].slice(0, 80)}`,
      script,
    }))
    .filter(({ script }) => !STARTS.test(script));
}

/**
 * Runs a block as its reader would, in the folder, with another address, key and first login in place of those of `npm start`.
 * Returns what it complained of: a request that is not answered 2xx is among it.
 */
export async function runBlock(
  { script }: ShellBlock,
  gateway: { url: string; key: string; admin: { email: string; password: string } },
  folder: string,
): Promise<string> {
  const adapted = script
    .replaceAll('http://127.0.0.1:8080', gateway.url)
    .replaceAll('ws://127.0.0.1:8080', gateway.url.replace('http', 'ws'))
    .replace(/^export GATEWAY_KEY=.*$/m, '')
    .replace(
      '"admin@gateway.local", "password": "…"',
      `"${gateway.admin.email}", "password": "${gateway.admin.password}"`,
    );
  const { stderr } = await run('sh', ['-eu', '-c', `${CURL}\n${adapted}`], {
    cwd: folder,
    timeout: BLOCK_MS,
    maxBuffer: 64 * 1024 * 1024,
    env: {
      ...process.env,
      NODE_NO_WARNINGS: '1',
      GATEWAY_KEY: gateway.key,
      NODE_PATH: join(repository, 'node_modules'),
    },
  });
  return stderr;
}
