import fc from 'fast-check';
import { FRAME_HEADER_BYTES, FrameBuffer, MAX_FRAME_BYTES, encodeFrame, type FrameRun } from './frame.js';

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('append' as const), json: fc.json({ maxDepth: 1 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('append' as const),
      json: fc
        .record({ text: fc.constantFrom('x', 'ü', '\u2028'), times: fc.integer({ min: 1, max: 300_000 }) })
        .map(({ text, times }) => text.repeat(times)),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('take' as const) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('release' as const), nth: fc.nat() }) },
);

describe('memory of journal frames', () => {
  it('keeps the bytes of every run until it is released, in whatever order that is', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const frames = new FrameBuffer();
        let open: Buffer[] = [];
        const runs: { run: FrameRun; bytes: Buffer }[] = [];
        for (const each of steps) {
          if (each.kind === 'append') {
            // In pieces of any length, none of which ends within a character.
            const characters = [...each.json];
            const cut = Math.floor(characters.length / 3);
            frames.append([characters.slice(0, cut).join(''), characters.slice(cut).join('')]);
            open.push(encodeFrame(each.json));
          } else if (each.kind === 'take') {
            runs.push({ run: frames.take(), bytes: Buffer.concat(open) });
            open = [];
          } else if (runs.length > 0) {
            const [{ run }] = runs.splice(each.nth % runs.length, 1);
            frames.release(run);
          }
          expect(frames.length).toBe(open.reduce((sum, frame) => sum + frame.length, 0));
          for (const { run, bytes } of runs) expect(run.bytes.equals(bytes)).toBe(true);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('keeps the second of two runs of one piece of memory, whatever comes after the first is released', () => {
    const frames = new FrameBuffer();
    frames.append(['{"first":1}']);
    const first = frames.take();
    frames.append(['{"second":2}']);
    const second = frames.take();
    frames.release(first);
    frames.append([`{"third":"${'3'.repeat(100)}"}`]);
    expect(second.bytes.equals(encodeFrame('{"second":2}'))).toBe(true);
  });

  it('begins the same memory anew where nothing is left in it', () => {
    const frames = new FrameBuffer();
    for (let n = 0; n < 3; n += 1) {
      frames.append(['{"a":1}']);
      const run = frames.take();
      expect(run.bytes.byteOffset).toBe(0);
      frames.release(run);
    }
  });

  it('uses the same memory again once the disk has confirmed', () => {
    const frames = new FrameBuffer();
    const seen = new Set<ArrayBufferLike>();
    const unsynced: FrameRun[] = [];
    for (let group = 0; group < 400; group += 1) {
      for (let n = 0; n < 10; n += 1) frames.append([`{"n":"${'x'.repeat(1_000)}"}`]);
      unsynced.push(frames.take());
      seen.add(unsynced[unsynced.length - 1].bytes.buffer);
      if (unsynced.length > 10) frames.release(unsynced.splice(0, 1)[0]);
    }
    expect(seen.size).toBe(2);
  });

  it('refuses what is too large for a frame and has then changed nothing', () => {
    const frames = new FrameBuffer();
    frames.append(['{"a":1}']);
    for (const text of ['', 'x'.repeat(MAX_FRAME_BYTES + 1), 'ü'.repeat(MAX_FRAME_BYTES / 2 + 1)])
      expect(() => frames.append([text])).toThrow(RangeError);
    frames.append(['x'.repeat(MAX_FRAME_BYTES)]);
    expect(frames.length).toBe(2 * FRAME_HEADER_BYTES + 7 + MAX_FRAME_BYTES);
    expect(
      frames.take().bytes.equals(Buffer.concat(['{"a":1}', 'x'.repeat(MAX_FRAME_BYTES)].map(encodeFrame))),
    ).toBe(true);
  });

  it('stays in its memory where a frame that is refused would not have fitted', () => {
    const frames = new FrameBuffer();
    frames.append(['x'.repeat(100_000)]);
    const { chunk } = frames.take();
    expect(() => frames.append(['x'.repeat(MAX_FRAME_BYTES + 1)])).toThrow(RangeError);
    frames.append(['{"a":1}']);
    expect(frames.take().chunk === chunk).toBe(true);
  });
});
