import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { planned, type Planned } from './changelog.js';
import { buildCommands, isByDigest } from './images.js';
import { judged, packagesInside, type Run } from './inside.js';
import { narrowed, type Bom } from './sbom.js';
import { nameAt, type Locked } from './shipped.js';
import { readSigningKey, signed, statementOf } from './signature.js';

export interface Wanted {
  root: string;
  run: Run;
  isDryRun: boolean;
  requireAdvisories: boolean;
  /** Bytes of the signing key, in PEM. */
  key?: Buffer;
  /** Base image by its digest. */
  base?: string;
}

export interface Released {
  lines: string[];
  /** Sentences that forbid the release; a dry run ends with them, too. */
  faults: string[];
}

const DIGEST_TO_GIVE = 'node:24-bookworm-slim@sha256:<digest>';
const SBOM_ARGS = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'];

/** Makes the files of a release and, unless it is a dry run, its tag, which comes last. */
export async function release(wanted: Wanted): Promise<Released> {
  const { root, run, isDryRun, base = DIGEST_TO_GIVE } = wanted;
  const plan = planOf(root);
  const commit = git(run, 'rev-parse', 'HEAD');
  const inside = await packagesInside(root);
  const { faults, notes } = judged(inside, run, wanted.requireAdvisories);
  // Of a dry run these are what is left to do.
  const left = [...plan.left, ...leftOf(wanted, plan.version, commit)];
  const lines = [`version: ${plan.version}`, `commit: ${commit}`];
  if (!isDryRun && faults.length + left.length > 0) return { lines, faults: [...faults, ...left] };

  const folder = join('.cache/release', plan.version);
  const files = filesOf(run, plan, inside, buildCommands(plan.version, commit, base));
  const statement = statementOf(plan.version, commit, files);
  const written: Record<string, string | Buffer> = { ...files, 'release.json': statement };
  if (wanted.key !== undefined) {
    const { signature, publicKey } = signed(statement, readSigningKey(wanted.key));
    written['release.json.sig'] = signature;
    written['release.pub.pem'] = publicKey;
  }
  mkdirSync(join(root, folder), { recursive: true });
  for (const [name, bytes] of Object.entries(written)) writeFileSync(join(root, folder, name), bytes);
  lines.push(`sbom: ${join(folder, sbomName(plan.version))}`);
  lines.push(`packages: ${inside.size}, licences in ${join(folder, 'licences.txt')}`, ...notes);
  lines.push(`images: ${join(folder, 'images.sh')}`);
  lines.push(
    `signature: ${'release.json.sig' in written ? join(folder, 'release.json.sig') : 'none, no key was given'}`,
  );
  lines.push('changelog:', '', `## ${plan.section.heading}`, plan.section.body, '');
  if (isDryRun) lines.push(...left.map((step) => `left to do: ${step}`));
  else if (tagged(run, plan.version) === null) {
    git(run, 'tag', '-a', `v${plan.version}`, '--cleanup=verbatim', '-F', join(folder, 'notes.md'));
    lines.push(`tag: v${plan.version}. Push it, then run images.sh with REGISTRY set.`);
  }
  return { lines, faults };
}

function planOf(root: string): Planned {
  const read = (path: string): string => readFileSync(join(root, path), 'utf8');
  const { version } = JSON.parse(read('package.json')) as { version: string };
  const lock = JSON.parse(read('package-lock.json')) as { version?: string };
  const chart = parse(read('deploy/helm/model-gateway/Chart.yaml')) as { appVersion?: string };
  const others = {
    'package-lock.json': lock.version,
    'deploy/helm/model-gateway/Chart.yaml': chart.appVersion,
  };
  return planned({ changelog: read('CHANGELOG.md'), version, others });
}

/** Returns what the release lacks beside the sources' own version. */
function leftOf({ run, key, base }: Wanted, version: string, commit: string): string[] {
  const left: string[] = [];
  if (git(run, 'status', '--porcelain') !== '') left.push('commit what has changed, or take it back');
  const at = tagged(run, version);
  if (at !== null && at !== commit) left.push(`v${version} is the tag of another commit: raise the version`);
  if (base === undefined || !isByDigest(base))
    left.push(`give the base image by its digest: --base ${DIGEST_TO_GIVE}`);
  if (key === undefined) left.push('give an Ed25519 key in PEM: --key FILE');
  return left;
}

/** Returns the commit of the version's tag; null where there is none. */
function tagged(run: Run, version: string): string | null {
  const { code, output } = run('git', ['rev-parse', '--verify', '--quiet', `refs/tags/v${version}^{commit}`]);
  return code === 0 ? output.trim() : null;
}

const sbomName = (version: string): string => `model-gateway-${version}.cdx.json`;

function filesOf(
  run: Run,
  { version, section }: Planned,
  inside: ReadonlyMap<string, Locked>,
  commands: string[],
): Record<string, string> {
  const { code, output } = run('npm', SBOM_ARGS);
  if (code !== 0) throw new Error('npm sbom failed: run it by hand to see why');
  const bom = narrowed(JSON.parse(output) as Bom, inside);
  const licences = [...inside].map(
    ([path, { version: at, license }]) => `${nameAt(path)}@${at ?? '?'}\t${license ?? '?'}`,
  );
  return {
    [sbomName(version)]: `${JSON.stringify(bom, null, 2)}\n`,
    'licences.txt': `${[...new Set(licences)].toSorted().join('\n')}\n`,
    'images.sh': `set -eu\n${commands.join('\n')}\n`,
    'notes.md': `Model Gateway ${version}\n\n${section.body}\n`,
  };
}

function git(run: Run, ...args: string[]): string {
  const { code, output } = run('git', args);
  if (code !== 0) throw new Error(`git ${args.join(' ')} failed`);
  return output.trim();
}
