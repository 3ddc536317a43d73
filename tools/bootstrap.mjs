// What `npm start` and `npm test` share. Plain JavaScript on Node's own modules, because it runs on the host's
// Node (20 or later) before anything is installed; everything after the install runs on the package's Node.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
export const packageNode = join(root, 'node_modules', '.bin', 'node');
const lockStamp = join(root, 'node_modules', '.installed-lockfile');
const buildStamp = join(root, 'dist', '.built-from');

const INSTALL_MINUTES_MAX = 15;
/** npm waits five minutes for each of three tries of its own: without a network that has no end in sight. */
const NPM_PATIENCE = ['--fetch-timeout=60000', '--fetch-retries=2', '--fetch-retry-maxtimeout=10000'];

/**
 * Runs a command in the repository and ends with its status where it fails, after the sentence `advice`. Progress goes
 * to standard error, because `npm start -- --json` owns standard output.
 */
export function run(command, args, { env = process.env, minutesMax, advice } = {}) {
  const timeout = minutesMax === undefined ? undefined : minutesMax * 60_000;
  const result = spawnSync(command, args, { cwd: root, env, stdio: ['ignore', 2, 2], timeout });
  if (result.status === 0) return;
  const isLate = result.error?.code === 'ETIMEDOUT';
  if (result.error && !isLate) throw result.error;
  const reason = isLate ? `took over ${minutesMax} minutes` : (result.signal ?? `exit ${result.status}`);
  process.stderr.write(`\`${command} ${args.join(' ')}\` failed (${reason}).\n`);
  if (advice !== undefined) process.stderr.write(`${advice}\n`);
  process.exit(result.status || 1);
}

/** Installs the dependencies when there are none, or when the lockfile is not the one they came from. */
export function install() {
  const lock = sha256(readFileSync(join(root, 'package-lock.json')));
  if (existsSync(packageNode) && installedLock() === lock) return;
  process.stderr.write('Installing dependencies (npm ci) …\n');
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error', ...NPM_PATIENCE], {
    env: hostEnvironment(),
    minutesMax: INSTALL_MINUTES_MAX,
    advice:
      'The dependencies could not be installed. Is the network there, and the package registry that npm is set to ' +
      '(`npm config get registry`)? Then run the same command again.',
  });
  writeFileSync(lockStamp, lock);
}

/** Generates the database clients and compiles, when a source file differs from the last build. */
export function build() {
  const sources = fingerprint();
  if (readIfPresent(buildStamp) === sources) return;
  process.stderr.write('Building …\n');
  run(packageNode, ['tools/generate.mjs'], { env: packageEnvironment() });
  run('npm', ['run', '--silent', 'compile'], { env: packageEnvironment() });
  run(packageNode, ['tools/build-dashboard.mjs'], { env: packageEnvironment() });
  mkdirSync(join(root, 'dist'), { recursive: true });
  writeFileSync(buildStamp, sources);
}

/** The environment in which `node` is the package's Node. */
export function packageEnvironment() {
  const path = [join(root, 'node_modules', '.bin'), process.env.PATH].filter(Boolean).join(delimiter);
  return { ...process.env, PATH: path };
}

// `npm ci` deletes node_modules, so it must not run on the Node that lives there.
function hostEnvironment() {
  const isOurs = (entry) => /node_modules[\\/]\.bin[\\/]?$/.test(entry);
  const path = (process.env.PATH ?? '').split(delimiter).filter((entry) => !isOurs(entry));
  return { ...process.env, PATH: path.join(delimiter) };
}

// An install made by a plain `npm ci` has no stamp of ours; npm's own record is then the younger of the two files.
function installedLock() {
  const stamp = readIfPresent(lockStamp);
  if (stamp !== undefined) return stamp;
  const npmRecord = join(root, 'node_modules', '.package-lock.json');
  const lockfile = join(root, 'package-lock.json');
  if (!existsSync(npmRecord) || statSync(npmRecord).mtimeMs < statSync(lockfile).mtimeMs) return undefined;
  const lock = sha256(readFileSync(lockfile));
  writeFileSync(lockStamp, lock);
  return lock;
}

// Names, sizes and times are enough: an edit changes at least one of them, and hashing every file is slower than compiling.
function fingerprint() {
  const hash = createHash('sha256').update(readFileSync(join(root, '.swcrc')));
  const skipped = new Set(['node_modules', 'generated', '.cache']);
  const visit = (folder) => {
    for (const entry of readdirSync(folder, { withFileTypes: true }).sort((a, b) =>
      a.name < b.name ? -1 : 1,
    )) {
      const path = join(folder, entry.name);
      if (entry.isDirectory() && !skipped.has(entry.name)) visit(path);
      if (!entry.isFile() || /\.spec\.tsx?$/.test(entry.name)) continue;
      const { size, mtimeMs } = statSync(path);
      hash.update(`${path}\0${size}\0${mtimeMs}\n`);
    }
  };
  for (const top of ['apps', 'libs', 'tools']) if (existsSync(join(root, top))) visit(join(root, top));
  return hash.digest('hex');
}

function sha256(bytes) {
  return createHash('sha256').update(bytes).digest('hex');
}

function readIfPresent(path) {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

/**
 * Hands over to a program on the package's Node and ends with its exit code. npm runs scripts in a shell that does not
 * forward signals (hence `exec` in package.json) and dies without a word on kill -9: an npm that is gone means stop.
 */
export function handOver(args, stdin) {
  const options = { cwd: root, env: packageEnvironment(), stdio: [stdin, 'inherit', 'inherit'] };
  let program;
  // Read before the program runs: npm may be gone as soon as it does.
  const npm = process.ppid;
  // A closed terminal takes its output along; the program below must still be stopped in order.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  // Before the program runs: a signal may come as soon as it says that it does.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => program?.kill(signal));
  program = spawn(packageNode, args, options);
  // Once: a further signal would mean that nobody waits for the orderly end.
  const watch = setInterval(() => {
    if (process.ppid === npm) return;
    clearInterval(watch);
    program.kill('SIGTERM');
  }, 500);
  if (process.env.npm_lifecycle_event === undefined) clearInterval(watch);
  program.on('exit', (code, signal) => {
    clearInterval(watch);
    process.exitCode = signal ? 1 : (code ?? 1);
  });
}
