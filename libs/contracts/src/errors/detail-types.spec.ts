import { readFileSync } from 'node:fs';
import { DETAIL_TYPES, detailType } from './detail-types.js';

describe('types of error.details', () => {
  it('R10 are all in docs/errors.md, which names no other', () => {
    const rows = readFileSync('docs/errors.md', 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('| `'));
    const named = rows.flatMap((row) =>
      [...(row.split('|')[1] ?? '').matchAll(/`([a-z_0-9]+)`/g)].map(([, name]) => name),
    );
    expect(named.toSorted()).toEqual([...DETAIL_TYPES].toSorted());
  });

  it('R10 stand for the names of validating libraries that have no type of their own', () => {
    expect([detailType('max_length'), detailType('is_iso8601')]).toEqual(['max_length', 'value_error']);
  });
});
