import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readTree } from './tree.js';

describe('readTree', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'house-'));
    execFileSync('git', ['init', '--quiet'], { cwd: root });
  });
  afterEach(() => rmSync(root, { recursive: true }));

  it('holds tracked and new files, and neither ignored nor deleted ones', () => {
    for (const name of ['tracked.ts', 'gone.ts', 'new.ts', 'ignored.log'])
      writeFileSync(join(root, name), name);
    writeFileSync(join(root, '.gitignore'), '*.log\n');
    execFileSync('git', ['add', 'tracked.ts', 'gone.ts'], { cwd: root });
    rmSync(join(root, 'gone.ts'));
    expect([...readTree(root).keys()].sort()).toEqual(['.gitignore', 'new.ts', 'tracked.ts']);
    expect(readTree(root).get('new.ts')).toBe('new.ts');
  });
});
