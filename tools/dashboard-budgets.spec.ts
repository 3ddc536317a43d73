import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repository } from '@gateway/testing/plain';

/** A build of four parts: the entry with what it imports, a page with what it imports, and charts. */
const MANIFEST = {
  'index.html': { file: 'entry.js', isEntry: true, imports: ['_kit.js'], css: ['entry.css'] },
  '_kit.js': { file: 'kit.js' },
  'src/keys/keys-page.tsx': { file: 'page.js', isDynamicEntry: true, imports: ['_kit.js', '_table.js'] },
  '_table.js': { file: 'table.js' },
  'src/keys/limits-form.tsx': { file: 'form.js', isDynamicEntry: true, imports: ['_kit.js', '_table.js'] },
  'src/chart/bars.tsx': { file: 'bars.js', isDynamicEntry: true, imports: ['_kit.js'] },
};
const WITHIN = {
  'entry.js': 90,
  'kit.js': 80,
  'entry.css': 40,
  'page.js': 40,
  'table.js': 25,
  'form.js': 60,
  'bars.js': 18,
};

describe('point 19 the budgets of the dashboard', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'dashboard-budgets-'));
    mkdirSync(join(folder, '.vite'));
    writeFileSync(join(folder, '.vite', 'manifest.json'), JSON.stringify(MANIFEST));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** Random bytes weigh as much after gzip. */
  const check = (changed: Partial<typeof WITHIN> = {}): { status: number | null; stderr: string } => {
    for (const [file, thousands] of Object.entries({ ...WITHIN, ...changed }))
      writeFileSync(join(folder, file), randomBytes(thousands * 1_000));
    const args = [join(repository, 'tools', 'dashboard-budgets.mjs'), folder];
    return spawnSync(process.execPath, args, { encoding: 'utf8' });
  };

  it('a build within them passes', () => {
    expect(check()).toMatchObject({ status: 0, stderr: '' });
  });

  it.each([
    ['initial JavaScript', { 'entry.js': 101, 'page.js': 20 }],
    ['initial CSS', { 'entry.css': 46 }],
    ['src/keys/keys-page.tsx with the initial JavaScript', { 'page.js': 46 }],
    ['src/keys/limits-form.tsx', { 'form.js': 66 }],
    ['src/chart/bars.tsx', { 'bars.js': 21 }],
  ])('a build whose %s is above its budget fails, and says which', (name, changed) => {
    const { status, stderr } = check(changed);
    expect(status).toBe(1);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stderr).toContain(`The dashboard's ${name} has`);
  });
});
