// `npm run upgrade -- --from <tag or commit>`: installs and builds that release in a folder of its own, then runs the drill
// that rolls two of each of its services to this release and back. Node's own modules only: it runs on the host's Node.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { build, handOver, install, requireNode, root } from './bootstrap.mjs';

const HELP = `usage: npm run upgrade -- [--from TAG|COMMIT] [--help]

  --from  the older release; default: the newest tag before this commit
`;
const ARCHIVE_BYTES_MAX = 1024 ** 3;

requireNode();
const flags = readFlags();
if (flags.help) process.stdout.write(HELP);
else await upgrade(flags.from ?? newestTag());

async function upgrade(from) {
  const commit = git('rev-parse', '--verify', '--quiet', '--end-of-options', `${from}^{commit}`);
  if (commit === null)
    refuse(`There is no commit ${from} in this clone. Is it shallow? Then: git fetch --unshallow --tags`);
  await install();
  await build();
  const folder = checkedOut(commit);
  process.stderr.write(`The older release is ${from} in ${folder}.\n`);
  // Its own way, which makes nothing anew that stands.
  const own = await import(pathToFileURL(join(folder, 'tools/bootstrap.mjs')).href);
  await own.install();
  await own.build();
  process.env.UPGRADE_FROM = folder;
  const modules = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
  const jest = ['node_modules/jest/bin/jest.js', '--config', 'jest.drills.config.js'];
  handOver([...modules, ...jest, 'e2e/mixed-versions'], 'ignore');
}

/** Returns the folder that holds the files of a commit, with this release's packages where its lockfile is the same. */
function checkedOut(commit) {
  const folder = join(root, '.cache/releases', commit.slice(0, 12));
  if (existsSync(folder)) return folder;
  // One that was interrupted is not taken for whole.
  const unfinished = `${folder}.part`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  const archive = ['archive', '--format=tar', commit];
  const tar = execFileSync('git', archive, { cwd: root, maxBuffer: ARCHIVE_BYTES_MAX });
  execFileSync('tar', ['-x', '-f', '-'], { cwd: unfinished, input: tar });
  const lockOf = (at) => readFileSync(join(at, 'package-lock.json'), 'utf8');
  if (lockOf(unfinished) === lockOf(root)) {
    const packages = join(root, 'node_modules');
    // Links; on another file system, or by a `cp` that makes none, `npm ci` does it.
    if (spawnSync('cp', ['-al', packages, unfinished]).status !== 0)
      rmSync(join(unfinished, 'node_modules'), { recursive: true, force: true });
  }
  renameSync(unfinished, folder);
  return folder;
}

function newestTag() {
  return git('describe', '--tags', '--abbrev=0') ?? refuse('There is no tag yet: say --from COMMIT.');
}

/** Returns what git prints, or null where it fails. */
function git(...args) {
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : null;
}

function refuse(sentence) {
  process.stderr.write(`${sentence}\n`);
  return process.exit(2);
}

function readFlags() {
  const options = { from: { type: 'string' }, help: { type: 'boolean', default: false } };
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    return refuse(error.message);
  }
}
