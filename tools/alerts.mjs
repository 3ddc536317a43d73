// `npm run alerts`: checks the rules of deploy/alerts with promtool and runs their tests. promtool is taken from the PATH or
// from .cache/bin, else out of Debian's package, which is unpacked and not installed: it would start a server.
import { execFileSync } from 'node:child_process';
import {
  accessSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { root } from './bootstrap.mjs';

const DOWNLOAD_MS = 120_000;
const CHECK_MS = 120_000;
const cached = join(root, '.cache/bin/promtool');

const promtool = findPromtool();
if (promtool === null) {
  process.stdout.write('alerts: left out, because promtool is not here and apt-get cannot bring it.\n');
  process.exit(0);
}
const rules = join(root, 'deploy/alerts/model-gateway.rules.yaml');
const faults = [
  ['check', 'rules', rules],
  ['test', 'rules', rules.replace('.yaml', '.test.yaml')],
].filter((args) => !run(promtool, args)).length;
process.stdout.write(`alerts: ${faults} faults\n`);
process.exitCode = faults === 0 ? 0 : 1;

/** Returns the path of promtool, or null where it is not here and cannot be had. */
function findPromtool() {
  const onPath = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'promtool'));
  const found = [...onPath, cached].find(isExecutable);
  if (found !== undefined) return found;
  if (!existsSync('/usr/bin/apt-get')) return null;
  const folder = mkdtempSync(join(tmpdir(), 'promtool-'));
  try {
    download(folder);
    const [archive] = readdirSync(folder).filter((name) => name.endsWith('.deb'));
    execFileSync('dpkg-deb', ['--extract', archive, 'unpacked'], { cwd: folder, timeout: CHECK_MS });
    mkdirSync(join(root, '.cache/bin'), { recursive: true });
    copyFileSync(join(folder, 'unpacked/usr/bin/promtool'), cached);
    return cached;
  } catch (error) {
    process.stderr.write(`alerts: promtool could not be had: ${error.message.split('\n')[0]}\n`);
    return null;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Brings the package into the folder. In a fresh image there are no package lists yet. */
function download(folder) {
  const options = { cwd: folder, timeout: DOWNLOAD_MS, stdio: 'ignore' };
  try {
    execFileSync('apt-get', ['download', 'prometheus'], options);
  } catch {
    execFileSync('apt-get', ['update'], options);
    execFileSync('apt-get', ['download', 'prometheus'], options);
  }
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** True where it ends well; else prints what it said. */
function run(program, args) {
  try {
    execFileSync(program, args, { encoding: 'utf8', timeout: CHECK_MS, stdio: ['ignore', 'pipe', 'pipe'] });
    return true;
  } catch (error) {
    process.stderr.write(`promtool ${args[0]}: ${error.stdout ?? ''}${error.stderr || error.message}\n`);
    return false;
  }
}
