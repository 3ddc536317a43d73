import fc from 'fast-check';
import { RECORDINGS, recordingOf } from '../audio-form/audio-duration.fixture.js';
import { PlayedSeconds } from './played-seconds.js';

/** Returns the seconds of a sound that comes repeatedly in pieces of these lengths. */
function played(sound: Buffer, format: string, lengths: readonly number[] = [sound.length]): number {
  const found = new PlayedSeconds(format);
  for (let at = 0, n = 0; at < sound.length; n += 1) {
    const length = lengths[n % lengths.length];
    found.add(sound.subarray(at, at + length));
    at += length;
  }
  found.end();
  return Number(found.seconds.toFixed(3));
}

/** Bytes between its pages that belong to none. */
const GAPS = recordingOf(RECORDINGS.find(([name]) => name === 'Opus in Ogg') as (typeof RECORDINGS)[number]);

/** Pages of 20,000 samples at 48 kHz, of 600 bytes each, behind those that say what it is: the last page ends there. */
function opus(samples: number, last = samples): Buffer {
  const head = Buffer.from('OpusHead\x01\x01\x00\x00\x80\xbb\0\0\0\0\0', 'latin1');
  head.writeUInt16LE(312, 10);
  const pages = [page(0, head), page(0, Buffer.from('OpusTags'.padEnd(40, '.')))];
  for (let at = 20_000; at < samples + 312; at += 20_000) pages.push(page(at, Buffer.alloc(600)));
  return Buffer.concat([...pages, page(last + 312, Buffer.alloc(600))]);
}

function page(samples: number, body: Buffer): Buffer {
  const lengths = [...Array.from({ length: Math.floor(body.length / 255) }, () => 255), body.length % 255];
  const head = Buffer.alloc(27 + lengths.length);
  head.write('OggS', 'latin1');
  head.writeBigInt64LE(BigInt(samples), 6);
  head[26] = lengths.length;
  head.set(lengths, 27);
  return Buffer.concat([head, body]);
}

/** Frames of 1,024 samples at 24 kHz, of so many bytes each. */
function aac(frames: number, bytes: number): Buffer {
  const frame = Buffer.alloc(bytes);
  frame.set([0xff, 0xf1, 0x58, 0x40 | (bytes >> 11), (bytes >> 3) & 0xff, ((bytes & 7) << 5) | 0x1f, 0xfc]);
  return Buffer.concat(Array.from({ length: frames }, () => frame));
}

/** Frames of 576 samples at 24 kHz, 48 kbit/s. */
function mp3(frames: number): Buffer {
  const frame = Buffer.alloc(144);
  frame.set([0xff, 0xf3, 0x64, 0xc0]);
  return Buffer.concat(Array.from({ length: frames }, () => frame));
}

describe('how long speech plays', () => {
  it('is said by the frames of MP3, behind a tag too, of AAC and of Opus, whose first samples are not played', () => {
    expect(played(mp3(100), 'mp3')).toBe(2.4);
    expect(played(Buffer.concat([Buffer.from('ID3'.padEnd(300, '.')), mp3(100)]), 'mp3')).toBe(2.4);
    expect(played(aac(75, 200), 'aac')).toBe(3.2);
    expect(played(opus(72_000), 'opus')).toBe(1.5);
  });

  it('is said by the bytes of a WAV and of raw samples, and at the least by those of what has no frames', () => {
    const wav = Buffer.concat([Buffer.alloc(44), Buffer.alloc(72_000)]);
    wav.write('RIFF....WAVEfmt ', 'latin1');
    wav.writeUInt32LE(48_000, 28);
    // What the bytes are counts, and not what was asked for.
    expect([played(wav, 'wav'), played(wav, 'opus')]).toEqual([1.5, 1.5]);
    expect(played(Buffer.alloc(4_800), 'pcm')).toBe(0.1);
    expect(played(Buffer.from('fLaC'.padEnd(96_000, '.')), 'flac')).toBe(2);
    expect(played(Buffer.alloc(0), 'mp3')).toBe(0);
  });

  it('is the same however the bytes come, and at each of them no more than in the end', () => {
    const sounds: [string, Buffer][] = [
      ['mp3', mp3(20)],
      ['aac', aac(20, 333)],
      ['opus', opus(72_000)],
      ['opus', GAPS],
    ];
    fc.assert(
      fc.property(
        fc.constantFrom(...sounds),
        fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 9 }),
        ([format, sound], lengths) => {
          expect(played(sound, format, lengths)).toBe(played(sound, format));
        },
      ),
    );
    const half = new PlayedSeconds('mp3');
    half.add(mp3(100).subarray(0, 7_200));
    expect(half.seconds).toBeGreaterThan(1.15);
    expect(half.seconds).toBeLessThanOrEqual(1.2);
  });

  it('is no more than its bytes can be, whatever a head says', () => {
    const sound = opus(72_000, 2 ** 50);
    expect(played(sound, 'opus')).toBe(Number((sound.length / 500).toFixed(3)));
  });

  it('never throws and ends, whatever the bytes', () => {
    const heads = fc.constantFrom('OggS', 'ID3', 'RIFF....WAVEfmt ', '\xff\xf1X@', '\xff\xf3d\xc0', '');
    fc.assert(
      fc.property(heads, fc.uint8Array({ maxLength: 2_000 }), (head, bytes) => {
        const seconds = played(Buffer.concat([Buffer.from(head, 'latin1'), bytes]), 'mp3', [61]);
        expect(seconds).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});
