import fc from 'fast-check';
import {
  decodeFrames,
  encodeFrame,
  type FrameEnd,
  MAX_FRAME_BYTES,
  nextFrame,
  readSegment,
} from './frame.js';

function decode(bytes: Buffer): { texts: string[]; end: FrameEnd } {
  const texts: string[] = [];
  const { end } = decodeFrames(bytes, true, (json) => texts.push(json.toString()) > 0);
  return { texts, end };
}

const jsons = fc.array(fc.json({ maxDepth: 2 }), { minLength: 1, maxLength: 6 });

describe('journal frames', () => {
  it('B09 answer what was written, whatever it is', () => {
    fc.assert(
      fc.property(jsons, (texts) => {
        expect(decode(Buffer.concat(texts.map(encodeFrame)))).toEqual({ texts, end: 'clean' });
      }),
    );
  });

  it('B09 a tail torn at any byte of the last frame is cut, and all before it is kept', () => {
    fc.assert(
      fc.property(jsons, (texts) => {
        const frames = texts.map(encodeFrame);
        const whole = Buffer.concat(frames);
        const last = frames.at(-1)?.length ?? 0;
        for (let cut = 1; cut < last; cut += 1) {
          const found = decode(whole.subarray(0, whole.length - cut));
          expect(found).toEqual({ texts: texts.slice(0, -1), end: 'torn' });
        }
      }),
      { numRuns: 40 },
    );
  });

  it('B09 a flipped bit at any position is never taken for a record nor for a torn tail', () => {
    fc.assert(
      fc.property(fc.array(fc.json({ maxDepth: 1 }), { minLength: 1, maxLength: 3 }), (texts) => {
        const frames = texts.map(encodeFrame);
        const whole = Buffer.concat(frames);
        const starts = frames.map((_, index) => Buffer.concat(frames.slice(0, index)).length);
        for (let bit = 0; bit < whole.length * 8; bit += 1) {
          whole[bit >> 3] ^= 1 << (bit & 7);
          const hit = starts.filter((start) => start <= bit >> 3).length - 1;
          expect({ bit, ...decode(whole) }).toEqual({ bit, texts: texts.slice(0, hit), end: 'bad' });
          whole[bit >> 3] ^= 1 << (bit & 7);
        }
      }),
      { numRuns: 25 },
    );
  });

  it('B09 zeros that a power cut left behind the last frame are a torn tail', () => {
    const bytes = Buffer.concat([encodeFrame('{"a":1}'), Buffer.alloc(4096)]);
    expect(decode(bytes)).toEqual({ texts: ['{"a":1}'], end: 'torn' });
  });

  it('a frame is bounded on both sides', () => {
    expect(MAX_FRAME_BYTES).toBe(983_040);
    expect(() => encodeFrame('x'.repeat(MAX_FRAME_BYTES + 1))).toThrow(RangeError);
    expect(decode(encodeFrame('x'.repeat(MAX_FRAME_BYTES))).end).toBe('clean');
    const huge = Buffer.alloc(64, 1);
    huge.writeUInt32BE(MAX_FRAME_BYTES + 1, 0);
    expect(decode(huge)).toEqual({ texts: [], end: 'bad' });
  });

  it('B09 a flipped bit at any position costs one record: all others are read, and the range is named', () => {
    const texts = ['{"a":1}', '{"b":[2,"\\u0000"]}', '{"c":"three"}', '{"d":4}'];
    const frames = texts.map(encodeFrame);
    const whole = Buffer.concat(frames);
    for (let at = 0; at < whole.length; at += 1) {
      for (let bit = 0; bit < 8; bit += 1) {
        const bytes = Buffer.from(whole);
        bytes[at] ^= 1 << bit;
        const read: string[] = [];
        const bad = readSegment(bytes, (json) => read.push(json.toString()));
        let begin = 0;
        const hit = frames.findIndex(({ length }) => (begin += length) > at);
        begin -= frames[hit].length;
        expect(read).toEqual(texts.filter((_, n) => n !== hit));
        const isTorn = hit === frames.length - 1 && bad.length === 0;
        if (!isTorn) expect(bad).toEqual([{ offset: begin, bytes: frames[hit].length }]);
      }
    }
  });

  it('B09 a search that meets a frame cut off by its window goes on there; at the end of the file no frame is left', () => {
    const bytes = Buffer.concat([Buffer.from('damaged'), encodeFrame('{"a":1}')]);
    expect(nextFrame(bytes, 0, false)).toEqual({ at: 7, isFound: true });
    for (let size = 8; size < bytes.length; size += 1) {
      expect(nextFrame(bytes.subarray(0, size), 0, false)).toEqual({ at: 7, isFound: false });
      expect(nextFrame(bytes.subarray(0, size), 0, true)).toEqual({ at: size, isFound: false });
    }
  });
});
