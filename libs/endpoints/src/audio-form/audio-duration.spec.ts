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

  describe('whose headers say a second', () => {
    const of = (container: string): Buffer[] =>
      RECORDINGS.filter(([, its]) => its === container).map(recordingOf);

    it('is as long as the frames of an MP3, whatever number its first one names', () => {
      const first = mp3Frames(1);
      first.write('Info\0\0\0\x01\0\0\0\x26', 21, 'latin1');
      expect(audioSeconds(first)).toBeCloseTo(0.993, 2);
      expect(audioSeconds(Buffer.concat([first, mp3Frames(1_000)]))).toBeCloseTo(26.122, 2);
      expect(audioSeconds(mp3Frames(1_000))).toBeCloseTo(26.122, 2);
      const garbage = Buffer.alloc(500, 0xff);
      const apart = Buffer.concat([mp3Frames(10), garbage, mp3Frames(1_000)]);
      expect(audioSeconds(apart)).toBeGreaterThan(26.3);
      // What no frame is found in is no less than at the highest rate.
      const behind = Buffer.concat([first, Buffer.alloc(400_000)]);
      expect(audioSeconds(behind)).toBeCloseTo(10, 0);
    });

    it('is as long as the samples of a WAV, of all its chunks, whatever bytes a second it names', () => {
      const [wav] = of('wav');
      const fmt = wav.indexOf('fmt ') + 8;
      wav.writeUInt32LE(4_000_000_000, fmt + 8);
      expect(audioSeconds(wav)).toBeCloseTo(0.2, 2);
      const again = Buffer.concat([Buffer.from('data\x40\x1f\0\0', 'latin1'), Buffer.alloc(8_000)]);
      expect(audioSeconds(Buffer.concat([wav, again]))).toBeCloseTo(1.2, 2);
      wav.writeUInt16LE(0x55, fmt);
      expect(audioSeconds(Buffer.concat([wav, again]))).toBeCloseTo(9_600 / 40_000, 2);
    });

    it('is as long as the bytes of a FLAC, an Ogg, an MP4 and a WebM can be', () => {
      const sound = Buffer.alloc(640_000);
      const [flac] = of('flac');
      flac[4] |= 0x80;
      // 16 kHz of 16 bit in one channel.
      expect(audioSeconds(Buffer.concat([flac.subarray(0, 42), sound]))).toBeCloseTo(640_000 / 33_600, 1);
      const [opus] = of('ogg');
      expect(audioSeconds(Buffer.concat([opus, sound]))).toBeCloseTo(10, 0);
      const [webm] = of('webm');
      expect(audioSeconds(Buffer.concat([webm, sound]))).toBeCloseTo(10, 0);
      const [mp4] = of('mp4');
      const sizes = mp4.indexOf('stsz') + 4;
      mp4.writeUInt32BE(160_000, sizes + 4);
      expect(audioSeconds(Buffer.concat([mp4, sound]))).toBeCloseTo(10, 0);
    });

    it('is as long as the longest of the pages, tracks and clusters say', () => {
      const [opus] = of('ogg');
      const page = Buffer.from(opus.subarray(opus.lastIndexOf('OggS')));
      page.writeBigInt64LE(480_312n, 6);
      const last = Buffer.from(page);
      last.writeBigInt64LE(48_000n, 6);
      expect(audioSeconds(Buffer.concat([opus, page, last]))).toBeCloseTo(10, 1);
      const [mp4] = of('mp4');
      mp4.writeUInt32BE(160_000, mp4.indexOf('mdhd') + 4 + 16);
      expect(audioSeconds(mp4)).toBeCloseTo(10, 1);
      const cluster = Buffer.from('1f43b67501ffffffffffffffe7822710', 'hex');
      expect(audioSeconds(Buffer.concat([...of('webm'), cluster]))).toBeCloseTo(10, 1);
    });

    it('is believed of a video, whose bytes are pictures', () => {
      const [webm] = of('webm');
      const pictures = Buffer.from(webm.toString('latin1').replace('A_OPUS', 'V_VP8\0'), 'latin1');
      expect(audioSeconds(Buffer.concat([pictures, Buffer.alloc(640_000)]))).toBeCloseTo(1.5, 1);
    });
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

/** Frames of MPEG 1, 64 kbit/s, 44.1 kHz, in one channel. */
function mp3Frames(count: number): Buffer {
  const frame = Buffer.alloc(208);
  frame.writeUInt32BE(0xfffb50c4);
  return Buffer.concat(Array.from({ length: count }, () => frame));
}
