import { textLines } from './text-lines.js';

async function* pieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(lines: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = [];
  for await (const line of lines) all.push(line);
  return all;
}

describe('textLines', () => {
  it.each([1, 2, 3, 100])('finds the same lines in pieces of %i bytes', async (size) => {
    expect(await read(textLines(pieces('a\n\n  \r\nb€c\r\nd', size), 10))).toEqual(['a', 'b€c', 'd']);
  });

  it('fails at a line that is too long, wherever it ends', async () => {
    for (const text of ['abc\n', 'abc', 'a\nabc\nd\n'])
      await expect(read(textLines(pieces(text, 2), 2))).rejects.toThrow(RangeError);
    expect(await read(textLines(pieces('ab\n', 2), 2))).toEqual(['ab']);
  });

  it.each([1, 2, 100])('passes over a line that is too long, and nothing beside it', async (size) => {
    const text = 'a\nabc\nb\n\nlonger than all\nc\nthe last';
    expect(await read(textLines(pieces(text, size), 2, 'passed over'))).toEqual(['a', 'b', 'c']);
  });
});
