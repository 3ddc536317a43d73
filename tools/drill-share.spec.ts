import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { drillPaths, shareOf } from './drill-share.mjs';

describe('drillPaths', () => {
  it('returns the drills of every folder by name, and no other spec', () => {
    const root = mkdtempSync(join(tmpdir(), 'drills-'));
    const write = (folder: string, name: string): void => {
      mkdirSync(join(root, folder), { recursive: true });
      writeFileSync(join(root, folder, name), '');
    };
    for (const top of ['apps', 'e2e', 'lab', 'libs', 'tools']) mkdirSync(join(root, top));
    write('libs/services/keys/src', 'killed.drill.spec.ts');
    write('e2e', 'rotation.drill.spec.ts');
    write('e2e', 'money.e2e.spec.ts');
    write('e2e/dashboard', 'large.drill.spec.tsx');
    write('docs', 'a.drill.spec.ts');
    expect(drillPaths(root)).toEqual([
      'e2e/dashboard/large.drill.spec.tsx',
      'e2e/rotation.drill.spec.ts',
      'libs/services/keys/src/killed.drill.spec.ts',
    ]);
    rmSync(root, { recursive: true });
  });
});

describe('shareOf', () => {
  it('takes every N-th, beginning with the K-th', () => {
    expect(shareOf(['a', 'b', 'c', 'd', 'e'], '1/3')).toEqual(['b', 'e']);
  });

  it('leaves no drill out: all shares together hold each path once', () => {
    const paths = fc.uniqueArray(fc.string(), { minLength: 12, maxLength: 40 });
    fc.assert(
      fc.property(paths, fc.integer({ min: 1, max: 12 }), (all, count) => {
        const shares = Array.from({ length: count }, (_, first) => shareOf(all, `${first}/${count}`));
        expect(shares.flat().sort()).toEqual([...all].sort());
        const sizes = shares.map(({ length }) => length);
        expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
      }),
    );
  });

  it.each(['6/6', '-1/6', '1', '1/0', 'a/b', '1/6/7', ''])('refuses the share %j', (share) => {
    expect(() => shareOf(['a'], share)).toThrow(RangeError);
  });

  it('refuses a share that holds no drill: nothing run must not look like everything passed', () => {
    expect(() => shareOf(['a', 'b'], '2/3')).toThrow('the share 2/3 holds none');
  });
});
