import { jest } from '@jest/globals';
import RunSummary, { leftOutText, slowestOf } from './run-summary.mjs';

const files = Array.from({ length: 30 }, (_, n) => ({ path: `libs/${n}.spec.ts`, ms: n * 1_000 }));

describe('the summary of a run', () => {
  it('names the ten slowest files, the slowest first, with their seconds', () => {
    const lines = slowestOf(files);
    expect(lines).toHaveLength(10);
    expect(lines[0]).toBe('   29.0 s  libs/29.spec.ts');
    expect(lines.at(-1)).toBe('   20.0 s  libs/20.spec.ts');
  });

  it('says by number and name what was left out, and what to do about it', () => {
    const specs = ['e2e/money.e2e.spec.ts', 'libs/limits/src/a.redis.spec.ts'];
    expect(leftOutText({ sentences: ['The program redis-server is missing: run x.'], specs })).toBe(
      '\n2 spec files were left out. The program redis-server is missing: run x.\n' +
        '           e2e/money.e2e.spec.ts\n           libs/limits/src/a.redis.spec.ts\n',
    );
    expect(leftOutText({ sentences: [], specs: [] })).toBe('');
  });

  it('is written to standard error for a run of more than ten files', () => {
    const written: string[] = [];
    const write = jest
      .spyOn(process.stderr, 'write')
      .mockImplementation((text) => written.push(String(text)) > 0);
    const results = files.map(({ path, ms }) => ({
      testFilePath: `/checkout/${path}`,
      perfStats: { start: 0, end: ms },
    }));
    const summary = new RunSummary({ rootDir: '/checkout' });
    try {
      summary.onRunComplete(new Set(), { testResults: results.slice(0, 10) });
      expect(written.join('')).toBe('');
      summary.onRunComplete(new Set(), { testResults: results });
    } finally {
      write.mockRestore();
    }
    expect(written.join('')).toContain('The 10 slowest files:\n   29.0 s  libs/29.spec.ts\n');
  });
});
