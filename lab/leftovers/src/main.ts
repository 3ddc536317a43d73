// `npm run secrets -- [jest arguments]`: runs specs, keeps what they leave, and looks in it for secrets of the product.
// Exit code 0: the specs passed and nothing was found; 1: otherwise.
import 'reflect-metadata';
import { spawn } from 'node:child_process';
import { createWriteStream, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const USAGE = 'usage: npm run secrets -- [arguments of Jest], for example the path of a spec\n';

const ARGUMENTS = [
  '--experimental-vm-modules',
  '--disable-warning=ExperimentalWarning',
  'node_modules/jest/bin/jest.js',
];

/** Runs Jest; what it prints, with what services in its own processes log, is kept too. */
async function runSpecs(folder: string): Promise<number> {
  mkdirSync(join(folder, 'logs'));
  const output = createWriteStream(join(folder, 'logs', 'jest.txt'));
  const jest = spawn(process.execPath, [...ARGUMENTS, ...process.argv.slice(2)], {
    cwd: repository,
    env: { ...process.env, GATEWAY_LEFTOVERS: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => jest.kill(signal));
  for (const stream of [jest.stdout, jest.stderr]) {
    stream.pipe(process.stderr, { end: false });
    stream.pipe(output, { end: false });
  }
  const code = await new Promise<number>((resolve) => jest.once('close', (status) => resolve(status ?? 1)));
  await new Promise((resolve) => output.end(resolve));
  return code;
}

if (process.argv.includes('--help')) {
  process.stdout.write(USAGE);
  process.exit(0);
}

// After the flags: what it loads takes most of a second.
const { repository } = await import('@gateway/testing');
const { scanFolder } = await import('./scan-folder.js');

const folder = mkdtempSync(join(tmpdir(), 'gateway-leftovers-'));
try {
  const code = await runSpecs(folder);
  const startedMs = performance.now();
  const { findings, read } = scanFolder(folder);
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
  for (const [kind, { files, bytes }] of Object.entries(read))
    console.log(`${kind}: ${files} files, ${(bytes / 1e3).toFixed(0)} kB`);
  for (const { file, form, start } of findings) console.log(`FOUND ${form} ${start} in ${file}`);
  console.log(`${findings.length} secrets found, read in ${seconds} s; the specs ended with ${code}`);
  process.exitCode = code === 0 && findings.length === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
