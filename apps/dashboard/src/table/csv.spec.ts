import fc from 'fast-check';
import { csvOf } from './csv.js';

/** Reads one line of RFC 4180 back. */
function read(line: string): string[] {
  const cells = ['']; // Quotes open and close; a doubled one is itself.
  let isQuoted = false;
  for (let at = 0; at < line.length; at += 1) {
    const sign = line[at];
    if (sign === '"' && isQuoted && line[at + 1] === '"') cells[cells.length - 1] += line[(at += 1)];
    else if (sign === '"') isQuoted = !isQuoted;
    else if (sign === ',' && !isQuoted) cells.push('');
    else cells[cells.length - 1] += sign;
  }
  return cells;
}

describe('a table as CSV', () => {
  it('has its amounts exactly, and nothing that a spreadsheet would run', () => {
    const rows = [
      ['=cmd|calc', '-0.000001', 3, null],
      ['a "b", c', '99999999999.123456789012', 0, 12],
    ];
    expect(csvOf(['group', 'spend_usd', 'requests', 'ms'], rows)).toBe(
      'group,spend_usd,requests,ms\r\n\'=cmd|calc,-0.000001,3,\r\n"a ""b"", c",99999999999.123456789012,0,12\r\n',
    );
  });

  it('is read back as it was, for any text', () => {
    const text = fc.string({ unit: 'grapheme' }).filter((one) => !/[\r\n]/.test(one));
    fc.assert(
      fc.property(fc.array(text, { minLength: 1 }), (texts) => {
        const [, line] = csvOf(
          texts.map(() => 'text'),
          [texts],
        ).split('\r\n');
        expect(read(line).map((one) => one.replace(/^'(?=\s*[=+\-@|%]|\t)/, ''))).toEqual(
          texts.map((one) => one.replace(/^'(?=\s*[=+\-@|%]|\t)/, '')),
        );
      }),
    );
  });
});
