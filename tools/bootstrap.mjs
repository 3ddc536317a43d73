// What `npm start` and `npm test` share. Plain JavaScript on Node's own modules, because it runs on the host's
// Node (20 or later) before anything is installed; everything after the install runs on the package's Node.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { clearTimeout, setInterval, clearInterval, setTimeout } from 'node:timers';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
export const packageNode = join(root, 'node_modules', '.bin', 'node');
const lockStamp = join(root, 'node_modules', '.installed-lockfile');
const buildStamp = join(root, 'dist', '.built-from');

const NODE_MIN = 20;
const INSTALL_MINUTES_MAX = 15;
/** npm waits five minutes for each of three tries of its own: without a network that has no end in sight. */
const NPM_PATIENCE = ['--fetch-timeout=60000', '--fetch-retries=2', '--fetch-retry-maxtimeout=10000'];
/** One short look at the registry, which `npm ci` would ask for each of its packages for ten minutes. */
const NPM_PING = ['ping', '--loglevel=error', '--fetch-retries=0', '--fetch-timeout=10000'];
const PING_MINUTES_MAX = 0.2;
/** A child that has not ended this long after its signal is killed. */
const ORDERLY_END_MS = 5_000;
const ADVICE =
  'The dependencies could not be installed. Is the network there, and the package registry that npm is set to ' +
  '(`npm config get registry`)? Then run the same command again.';

/** Ends with one sentence where the host's Node is too old. */
export function requireNode(version = process.versions.node) {
  if (Number.parseInt(version, 10) >= NODE_MIN) return;
  process.stderr.write(`Model Gateway needs Node ${NODE_MIN} or later; this is Node ${version}.\n`);
  process.exit(1);
}

/**
 * Runs a command in the repository and ends with its status where it fails, after the sentence `advice`. Progress goes
 * to standard error, because `npm start -- --json` owns standard output.
 */
export async function run(command, args, { env = process.env, minutesMax, advice } = {}) {
  const ended = await runGroup(command, args, { env, minutesMax, stdio: ['ignore', 2, 2] });
  if (ended.code === 0) return;
  const reason = ended.isLate ? `took over ${minutesMax} minutes` : (ended.signal ?? `exit ${ended.code}`);
  process.stderr.write(`\`${command} ${args.join(' ')}\` failed (${reason}).\n`);
  if (advice !== undefined) process.stderr.write(`${advice}\n`);
  process.exit(ended.code || 1);
}

/**
 * Runs a command in a process group of its own and returns how it ended: {code, signal, isLate, complained}, the last
 * being its standard error where that is a pipe. Where this process is told to stop, or the npm above it is gone, the
 * whole group is stopped first: an `npm ci` that is left behind would write into the folder of the next one.
 */
export async function runGroup(command, args, { env, minutesMax, stdio }) {
  let kill;
  const stop = (signal) => {
    signalGroup(child, signal);
    kill ??= setTimeout(() => signalGroup(child, 'SIGKILL'), ORDERLY_END_MS);
  };
  let stopped;
  // Before the command starts: a signal between the two would end this process and leave the command behind.
  const unwatch = watchStops((signal) => stop((stopped ??= signal)));
  const child = spawn(command, args, { cwd: root, env, stdio, detached: true });
  let complained = '';
  child.stderr?.on('data', (chunk) => (complained += chunk));
  let isLate = false;
  const patience = minutesMax && setTimeout(() => ((isLate = true), stop('SIGTERM')), minutesMax * 60_000);
  const [code, signal] = await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (...ended) => resolve(ended));
  });
  for (const timer of [patience, kill]) clearTimeout(timer);
  unwatch();
  // What the command had started itself, and has not waited for.
  if (stopped !== undefined || isLate) signalGroup(child, 'SIGKILL');
  if (stopped !== undefined) process.exit(1);
  return { code, signal, isLate, complained };
}

function signalGroup({ pid }, signal) {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // The group has ended already.
  }
}

/**
 * Calls `stop` with each signal that asks this process to end, and once with SIGTERM where the npm above it is gone.
 * npm runs scripts in a shell that does not forward signals (hence `exec` in package.json) and dies without a word on
 * kill -9. Returns how to stop watching.
 */
function watchStops(stop) {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) process.on(signal, stop);
  const npm = process.ppid;
  // Once: a further signal would mean that nobody waits for the orderly end.
  const watch = setInterval(() => {
    if (process.ppid === npm) return;
    clearInterval(watch);
    stop('SIGTERM');
  }, 500);
  if (process.env.npm_lifecycle_event === undefined) clearInterval(watch);
  return () => {
    clearInterval(watch);
    for (const signal of signals) process.off(signal, stop);
  };
}

/** Installs the dependencies when there are none, or when the lockfile is not the one they came from. */
export async function install() {
  const lock = sha256(readFileSync(join(root, 'package-lock.json')));
  if (existsSync(packageNode) && installedLock() === lock) return;
  const env = hostEnvironment();
  await lookAtRegistry(env);
  process.stderr.write('Installing dependencies (npm ci) …\n');
  await run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error', ...NPM_PATIENCE], {
    env,
    minutesMax: INSTALL_MINUTES_MAX,
    advice: ADVICE,
  });
  writeFileSync(lockStamp, lock);
}

/** Ends with a sentence where no registry answers. A registry that answers with an error, and npm's own cache, go on. */
async function lookAtRegistry(env) {
  const stdio = ['ignore', 'ignore', 'pipe'];
  const { code, isLate, complained } = await runGroup('npm', NPM_PING, {
    env,
    minutesMax: PING_MINUTES_MAX,
    stdio,
  });
  const fault = isLate ? 'no answer' : /^npm (?:error|ERR!) code (\S+)/m.exec(complained)?.[1];
  if (code === 0 || fault === undefined || /^E\d{3}$|^ENOTCACHED$/.test(fault)) return;
  process.stderr.write(`The package registry does not answer (${fault}).\n${ADVICE}\n`);
  process.exit(1);
}

/** Generates the database clients and compiles, when a source file differs from the last build. */
export async function build() {
  const sources = fingerprint();
  if (readIfPresent(buildStamp) === sources) return;
  process.stderr.write('Building …\n');
  await run(packageNode, ['tools/generate.mjs'], { env: packageEnvironment() });
  await run('npm', ['run', '--silent', 'compile'], { env: packageEnvironment() });
  await run(packageNode, ['tools/build-dashboard.mjs'], { env: packageEnvironment() });
  mkdirSync(join(root, 'dist'), { recursive: true });
  writeFileSync(buildStamp, sources);
}

/** Returns what a program on the package's Node prints, without the last line end; ends with its status where it fails. */
export function outputOf(args) {
  const options = {
    cwd: root,
    env: packageEnvironment(),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  };
  const { status, stdout } = spawnSync(packageNode, args, options);
  if (status !== 0) process.exit(status || 1);
  return stdout.trimEnd();
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
  for (const top of ['apps', 'libs', 'tools', 'lab']) if (existsSync(join(root, top))) visit(join(root, top));
  return hash.digest('hex');
}

function sha256(bytes) {
  return createHash('sha256').update(bytes).digest('hex');
}

function readIfPresent(path) {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

/** Hands over to a program on the package's Node and ends with its exit code. */
export function handOver(args, stdin) {
  const options = { cwd: root, env: packageEnvironment(), stdio: [stdin, 'inherit', 'inherit'] };
  let program;
  // A closed terminal takes its output along; the program below must still be stopped in order.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  // Before the program runs: a signal may come, and npm may be gone, as soon as it says that it does.
  const unwatch = watchStops((signal) => program?.kill(signal));
  program = spawn(packageNode, args, options);
  program.on('exit', (code, signal) => {
    unwatch();
    process.exitCode = signal ? 1 : (code ?? 1);
  });
}
