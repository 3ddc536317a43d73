import { createHash, generateKeyPairSync, verify } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runIn, type Run } from './inside.js';
import { release, type Released } from './release.js';

const ROOT = join(import.meta.dirname, '../../..');
const BASE = `node:24-bookworm-slim@sha256:${'0'.repeat(64)}`;
const SBOM = '.cache/release/1.2.0/model-gateway-1.2.0.cdx.json';
const LOCK = {
  name: 'model-gateway',
  version: '1.2.0',
  lockfileVersion: 3,
  packages: {
    '': {
      name: 'model-gateway',
      version: '1.2.0',
      dependencies: { served: '1.0.0' },
      devDependencies: { tool: '3.0.0' },
    },
    'node_modules/served': { version: '1.0.0', license: 'MIT' },
    'node_modules/tool': { version: '3.0.0', license: 'GPL-3.0-only', dev: true },
  },
};
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const key = Buffer.from(privateKey.export({ type: 'pkcs8', format: 'pem' }));

describe('a release', () => {
  let root: string;
  let git: (...args: string[]) => string;
  /** Real git and npm; no registry is asked. */
  let run: Run;

  const read = (path: string): string => readFileSync(join(root, path), 'utf8');
  const write = (path: string, text: string): void => writeFileSync(join(root, path), text);
  const made = (over: { isDryRun?: boolean; key?: Buffer; base?: string }): Promise<Released> =>
    release({ root, run, isDryRun: false, requireAdvisories: false, key, base: BASE, ...over });

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'release-'));
    const real = runIn(root);
    run = (program, args) =>
      args[0] === 'audit' ? { code: 0, output: '{"vulnerabilities":{}}' } : real(program, args);
    git = (...args) => {
      const { code, output } = real('git', ['-c', 'user.name=a', '-c', 'user.email=a@a.example', ...args]);
      expect(code).toBe(0);
      return output.trim();
    };
    mkdirSync(join(root, 'deploy/docker'), { recursive: true });
    mkdirSync(join(root, 'deploy/helm/model-gateway'), { recursive: true });
    cpSync(join(ROOT, 'deploy/docker'), join(root, 'deploy/docker'), { recursive: true });
    write('deploy/helm/model-gateway/Chart.yaml', 'appVersion: 1.2.0\n');
    write('package-lock.json', JSON.stringify(LOCK));
    write('package.json', JSON.stringify(LOCK.packages['']));
    write(
      'CHANGELOG.md',
      '# Changelog\n\n## Unreleased\n\n## 1.2.0 - 2026-12-01\n### Upgrading\n- # read this\n',
    );
    write('.gitignore', '.cache\n');
    git('init', '--quiet', '--initial-branch=main');
    git('config', 'user.name', 'a');
    git('config', 'user.email', 'a@a.example');
    git('add', '.');
    git('commit', '--quiet', '-m', 'a');
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  it('says version, SBOM and changelog in a dry run, what is left to do, and tags nothing', async () => {
    const { lines, faults } = await made({ isDryRun: true, key: undefined, base: undefined });
    expect(faults).toEqual([]);
    expect(lines).toEqual(
      expect.arrayContaining([
        'version: 1.2.0',
        `sbom: ${SBOM}`,
        '## 1.2.0 - 2026-12-01',
        '### Upgrading\n- # read this',
        'left to do: give an Ed25519 key in PEM: --key FILE',
      ]),
    );
    expect(git('tag')).toBe('');
    const bom = JSON.parse(read(SBOM)) as { bomFormat: string; components: { name: string }[] };
    expect([bom.bomFormat, bom.components.map(({ name }) => name)]).toEqual(['CycloneDX', ['served']]);
    expect(read('.cache/release/1.2.0/licences.txt')).toBe('served@1.0.0\tMIT\n');
  });

  it('signs a statement of its files with the key that is given, then tags the commit', async () => {
    const { lines, faults } = await made({});
    expect(faults).toEqual([]);
    const commit = git('rev-parse', 'HEAD');
    expect(git('rev-parse', 'v1.2.0^{commit}')).toBe(commit);
    expect(git('tag', '-l', '--format=%(contents)', 'v1.2.0')).toContain('### Upgrading\n- # read this');
    const folder = join(root, '.cache/release/1.2.0');
    const statement = readFileSync(join(folder, 'release.json'));
    expect(verify(null, statement, publicKey, readFileSync(join(folder, 'release.json.sig')))).toBe(true);
    const said = JSON.parse(statement.toString()) as { commit: string; sha256: Record<string, string> };
    expect(said.commit).toBe(commit);
    for (const name of ['images.sh', 'licences.txt', 'notes.md', 'model-gateway-1.2.0.cdx.json'])
      expect(said.sha256[name]).toBe(
        createHash('sha256')
          .update(readFileSync(join(folder, name)))
          .digest('hex'),
      );
    expect(lines.join('\n')).not.toContain('PRIVATE KEY');
  });

  it('builds six images and the all-in-one for both processors on a base that does not move', async () => {
    await made({});
    const commands = read('.cache/release/1.2.0/images.sh')
      .split('\n')
      .filter((line) => line.startsWith('docker'));
    expect(commands.map((line) => /APP=([\w-]+)/.exec(line)?.[1])).toEqual([
      'all-in-one',
      'catalogue',
      'edge',
      'keys',
      'notifications',
      'usage',
      'workers',
    ]);
    for (const line of commands)
      expect(line).toMatch(
        /--platform linux\/amd64,linux\/arm64 .*BASE=node:24-bookworm-slim@sha256:0{64} .*COMMIT=[0-9a-f]{40} /,
      );
  });

  it('may be run again, and refuses a version that another commit has', async () => {
    await made({});
    expect((await made({})).faults).toEqual([]);
    git('commit', '--quiet', '--allow-empty', '-m', 'b');
    expect((await made({})).faults).toEqual(['v1.2.0 is the tag of another commit: raise the version']);
  });

  it.each([
    ['a base by its tag', { base: 'node:24' }, /^give the base image by its digest/],
    ['no key', { key: undefined }, /^give an Ed25519 key/],
  ])('is refused with %s', async (_what, over, sentence) => {
    const { faults } = await made(over);
    expect(faults).toEqual([expect.stringMatching(sentence)]);
    expect(git('tag')).toBe('');
  });

  it('is refused with changes that are not committed, and with a forbidden licence', async () => {
    const packages = {
      ...LOCK.packages,
      'node_modules/served': { version: '1.0.0', license: 'GPL-3.0-only' },
    };
    write('package-lock.json', JSON.stringify({ ...LOCK, packages }));
    expect((await made({})).faults).toEqual([
      'served@1.0.0 has the licence GPL-3.0-only, which is not allowed',
      'commit what has changed, or take it back',
    ]);
  });

  it('takes no key of another kind, and quotes nothing of what it is given', async () => {
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
    const other = Buffer.from(rsa.export({ type: 'pkcs8', format: 'pem' }));
    await expect(made({ key: other })).rejects.toThrow('The signing key is not an Ed25519 key');
    await expect(made({ key: Buffer.from('no key: secret') })).rejects.toThrow(
      'The signing key cannot be read: it has to be a private key in PEM',
    );
    expect(git('tag')).toBe('');
  });
});

describe('the recipe of the images', () => {
  const recipe = readFileSync(join(ROOT, 'deploy/docker/Dockerfile'), 'utf8');

  it('takes every base from BASE, runs as a number, and removes what its app does not load', () => {
    const bases = [...recipe.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base);
    expect(bases).toEqual(['${BASE}', '${BASE}', '${BASE}']);
    expect(recipe).toMatch(/^USER \d+:\d+$/m);
    expect(recipe).toContain('RUN node unneeded.mjs "${APP}"');
  });
});
