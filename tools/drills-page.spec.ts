import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '@gateway/testing/plain';
import { drillPaths } from './drill-share.mjs';

describe('docs/drills.md', () => {
  it('has a row for each drill, with its promise and its minutes', () => {
    const page = readFileSync(join(repository, 'docs/drills.md'), 'utf8');
    const rows = [...page.matchAll(/^\| `(\S+)` \| .{20,} \| (?:\d+\.\d|–) \|$/gm)].map(([, name]) => name);
    expect(rows).toEqual(drillPaths(repository).map((path) => path.replace(/\.drill\.spec\.tsx?$/, '')));
  });
});
