import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SCRIPT = join(import.meta.dirname, '../../../deploy/helm/model-gateway/files/backup.sh');
const urlOf = (database: string): string => `postgresql://gateway:a-secret@postgres:5432/${database}`;
const URL = urlOf('gateway');
/** Writes its arguments into the archive, and fails half way for a database of that name. */
const PG_DUMP = `#!/bin/sh
for one in "$@"; do case "$one" in --file=*) file=\${one#--file=} ;; --dbname=*) url=\${one#--dbname=} ;; esac; done
echo "dump of $url" > "$file"
case "$url" in */broken) exit 1 ;; esac
`;
/** Fails for an archive of a database of that name. */
const PG_RESTORE = `#!/bin/sh
! grep -q unreadable "$2"
`;

describe('the backup of the chart', () => {
  let folder: string;
  let programs: string;
  beforeEach(() => {
    const root = mkdtempSync(join(tmpdir(), 'backup-'));
    folder = join(root, 'backups');
    programs = join(root, 'bin');
    for (const path of [folder, programs]) mkdirSync(path);
    writeFileSync(join(programs, 'pg_dump'), PG_DUMP, { mode: 0o755 });
    writeFileSync(join(programs, 'pg_restore'), PG_RESTORE, { mode: 0o755 });
  });
  afterEach(() => rmSync(join(folder, '..'), { recursive: true, force: true }));

  const run = (urls: Record<string, string>, keep = 2): { status: number | null; said: string } => {
    const env = { PATH: `${programs}:/usr/bin:/bin`, ...urls };
    const options = { env, encoding: 'utf8', timeout: 30_000 } as const;
    const { status, stdout, stderr } = spawnSync('sh', [SCRIPT, folder, String(keep)], options);
    return { status, said: stdout + stderr };
  };
  const older = (name: string): void => writeFileSync(join(folder, name), 'old');
  const archives = (): string[] => readdirSync(folder).toSorted();

  it('OPS writes one archive of each database, once where two services share it, and says no secret', () => {
    const other = urlOf('usage');
    const { status, said } = run({ DATABASE_URL: URL, KEYS_DATABASE_URL: URL, USAGE_DATABASE_URL: other });
    expect([status, said]).toEqual([
      0,
      'backup of database is written\nbackup of usage-database is written\n',
    ]);
    expect(archives()).toEqual([
      expect.stringMatching(/^database-\d{8}T\d{6}Z\.dump$/),
      expect.stringMatching(/^usage-database-\d{8}T\d{6}Z\.dump$/),
    ]);
    expect(readFileSync(join(folder, archives()[1]), 'utf8')).toBe(`dump of ${other}\n`);
  });

  it('OPS keeps the newest archives of each database, and no file of another name', () => {
    const names = ['database-20260101T000000Z.dump', 'database-20260102T000000Z.dump', 'notes.txt'];
    for (const name of [...names, 'keys-database-20250101T000000Z.dump']) older(name);
    expect(run({ DATABASE_URL: URL }).status).toBe(0);
    expect(archives()).toEqual([
      'database-20260102T000000Z.dump',
      expect.stringMatching(/^database-20[2-9]\d/),
      'keys-database-20250101T000000Z.dump',
      'notes.txt',
    ]);
  });

  it.each(['broken', 'unreadable'])(
    'OPS takes no archive for one that is %s, and keeps the older ones',
    (name) => {
      const names = ['database-20260101T000000Z.dump', 'database-20260102T000000Z.dump'];
      for (const one of names) older(one);
      expect(run({ DATABASE_URL: urlOf(name) }, 1).status).not.toBe(0);
      expect(archives()).toEqual(names);
    },
  );

  it('OPS fails where no variable names a database', () => {
    expect(run({ DATABASE_URL: '' })).toEqual({ status: 1, said: 'no variable names a database\n' });
  });
});
