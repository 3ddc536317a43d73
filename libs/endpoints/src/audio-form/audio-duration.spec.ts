import fc from 'fast-check';
import { audioSeconds, containerOf } from './audio-duration.js';
import { RECORDINGS, recordingOf } from './audio-duration.fixture.js';

describe('the duration of a recording', () => {
  it.each(RECORDINGS)('of %s (%s) is read from its headers', (...recording) => {
    const [, container, , , seconds] = recording;
    const bytes = recordingOf(recording);
    expect(containerOf(bytes)).toBe(container);
    expect(Math.abs((audioSeconds(bytes) ?? 0) - seconds)).toBeLessThan(0.15);
  });

  it('of a WAV whose recorder never wrote its length is that of the bytes there are', () => {
    const [wav] = RECORDINGS.filter(([, container]) => container === 'wav').map(recordingOf);
    const at = wav.indexOf('data') + 4;
    for (const unknown of [0, 0xffffffff]) {
      wav.writeUInt32LE(unknown, at);
      expect(audioSeconds(wav)).toBeCloseTo(0.2, 1);
    }
  });

  it('of anything else is null, and no bytes make it throw, loop or say nonsense', () => {
    expect([containerOf(Buffer.from('text')), audioSeconds(Buffer.alloc(0))]).toEqual([null, null]);
    const changed = fc
      .tuple(
        fc.constantFrom(...RECORDINGS),
        fc.array(fc.tuple(fc.nat(400), fc.nat(255)), { maxLength: 20 }),
        fc.nat(1_000),
      )
      .map(([recording, edits, length]) => {
        const bytes = recordingOf(recording).subarray(0, length);
        for (const [at, value] of edits) if (at < bytes.length) bytes[at] = value;
        return bytes;
      });
    fc.assert(
      fc.property(changed, (bytes) => {
        const seconds = audioSeconds(bytes);
        if (seconds !== null) expect(seconds > 0 && seconds < 1_000_000).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});
