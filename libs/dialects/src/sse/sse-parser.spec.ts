import { jest } from '@jest/globals';
import fc from 'fast-check';
import { SseParser, STREAM_EVENT_MAX, type SseEvent } from './sse-parser.js';

function parseWhole(bytes: Buffer): SseEvent[] {
  const parser = new SseParser();
  return [...parser.push(bytes), ...parser.end()];
}

function parseCut(bytes: Buffer, sizes: number[]): SseEvent[] {
  const parser = new SseParser();
  const events: SseEvent[] = [];
  let at = 0;
  for (let turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    events.push(...parser.push(bytes.subarray(at, at + size)));
    at += size;
  }
  return [...events, ...parser.end()];
}

describe('SseParser', () => {
  it('reads frames, comments, several data lines, and data without a space', () => {
    const text = ': hi\n\nevent: a\ndata: 1\n\ndata:2\ndata: 3\nid: 7\nretry: 5\n\ndata\n\n';
    expect(parseWhole(Buffer.from(text))).toEqual([
      { event: 'a', data: '1' },
      { event: '', data: '2\n3' },
      { event: '', data: '' },
    ]);
  });

  it('skips a byte order mark and counts a last event without its blank line', () => {
    expect(parseWhole(Buffer.from('\uFEFFdata: x\n\ndata: last'))).toEqual([
      { event: '', data: 'x' },
      { event: '', data: 'last' },
    ]);
  });

  it('gives the same events for any line end and any cut, also inside a character', () => {
    const line = fc.string({ unit: fc.constantFrom('a', 'é', '漢', '😀', ' ', ':', '{', '"') });
    const frames = fc.array(
      fc.record({
        event: fc.constantFrom('', 'delta'),
        data: fc.array(line, { minLength: 1, maxLength: 3 }),
      }),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(
        frames,
        fc.constantFrom('\n', '\r\n', '\r'),
        fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 9 }),
        (list, end, sizes) => {
          const text = list
            .map(
              (frame) =>
                `${frame.event === '' ? '' : `event: ${frame.event}${end}`}${frame.data.map((data) => `data: ${data}${end}`).join('')}${end}`,
            )
            .join('');
          const expected = list.map((frame) => ({ event: frame.event, data: frame.data.join('\n') }));
          expect(parseWhole(Buffer.from(text))).toEqual(expected);
          expect(parseCut(Buffer.from(text), sizes)).toEqual(expected);
        },
      ),
    );
  });

  it('ends a line at a carriage return that was the last of a piece, and takes the line feed after it for the same end', () => {
    const parser = new SseParser();
    const events = ['data: 1\r', '\n', '\r', 'data: 2\r', '\r', '\ndata: 3\r\n\r\n'].flatMap((text) =>
      parser.push(Buffer.from(text)),
    );
    expect(events).toEqual([
      { event: '', data: '1' },
      { event: '', data: '2' },
      { event: '', data: '3' },
    ]);
  });

  /** Returns how many characters an upstream makes the parser search for each that it sends. */
  function searched(pieces: Iterable<Buffer>): number {
    const search = jest.spyOn(String.prototype, 'indexOf');
    let sent = 0;
    let looked = 0;
    try {
      const parser = new SseParser();
      for (const piece of pieces) {
        sent += piece.length;
        search.mockClear();
        parser.push(piece);
        search.mock.calls.forEach(([, from = 0], call) => {
          const text = String(search.mock.contexts[call]);
          const found = search.mock.results[call].value as number;
          looked += (found < 0 ? text.length : found) - from;
        });
      }
    } finally {
      search.mockRestore();
    }
    return looked / sent;
  }

  it.each([
    ['carriage returns alone', Array.from({ length: 4 }, () => Buffer.alloc(4_096, '\r'))],
    ['line feeds alone', Array.from({ length: 4 }, () => Buffer.alloc(4_096, '\n'))],
    ['a line in pieces of one byte', Array.from({ length: 20_000 }, () => Buffer.from('a'))],
    ['short lines of both ends', Array.from({ length: 200 }, () => Buffer.from('a\nb\r'.repeat(20)))],
  ])('U08 looks at each character a few times at most: %s', (_what, pieces) => {
    expect(searched(pieces)).toBeLessThan(6);
  });

  it('reads a line of 8 MiB, as a picture in base64 is, in whatever pieces it comes', () => {
    const picture = 'x'.repeat(8 * 1_048_576);
    const line = Buffer.from(`data: ${picture}\r\n\r\n`);
    // Not compared by toEqual, which would print both.
    for (const events of [parseCut(line, [1_448]), parseWhole(line)])
      expect(events.map(({ data }) => data === picture)).toEqual([true]);
  });

  it('U08 joins the pieces of a line once, not again for each thousand of them', () => {
    const join = jest.spyOn(Array.prototype, 'join');
    let joined = 0;
    try {
      const parser = new SseParser();
      for (let piece = 0; piece < 20_000; piece += 1) parser.push(Buffer.from('abcd'));
      parser.push(Buffer.from('\n'));
      for (const { value } of join.mock.results) joined += String(value).length;
    } finally {
      join.mockRestore();
    }
    expect(joined / 80_000).toBeLessThan(3);
  });

  it('stops at a line past the bound', () => {
    const parser = new SseParser();
    parser.push(Buffer.alloc(STREAM_EVENT_MAX + 10, 0x61));
    expect(parser.overflowed).toBe(true);
    expect(parser.push(Buffer.from('\ndata: x\n\n'))).toEqual([]);
  });
});
