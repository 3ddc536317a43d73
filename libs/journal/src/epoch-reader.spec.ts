import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nodeDisk, segmentsIn, type Disk } from './disk.js';
import { EpochReader, WINDOW_BYTES, type BadFrame } from './epoch-reader.js';
import { encodeFrame } from './frame.js';
import { withFolder } from './journal.fixture.js';
import type { Position } from './segment-writer.js';

async function allOf(
  folder: string,
  limit: Position | null = null,
): Promise<{ texts: string[]; bad: BadFrame[] }> {
  const bad: BadFrame[] = [];
  const texts: string[] = [];
  const reader = new EpochReader(nodeDisk, folder, (one) => void bad.push(one));
  const take = (json: Buffer): boolean => {
    texts.push(json.toString());
    return true;
  };
  const window = Buffer.allocUnsafe(WINDOW_BYTES);
  while (await reader.read(window, limit, take));
  await reader.close();
  return { texts, bad };
}

describe('the reader of an epoch', () => {
  it('B09 reads a segment from its first byte where the one before it ends in bytes that hold no frame', () =>
    withFolder(async (dir) => {
      const damaged = encodeFrame('{"b":2}');
      damaged[10] ^= 1;
      const first = Buffer.concat([encodeFrame('{"a":1}'), damaged]);
      writeFileSync(join(dir, '00000001.log'), first);
      writeFileSync(join(dir, '00000002.log'), Buffer.concat(['{"c":3}', '{"d":4}'].map(encodeFrame)));
      const { texts, bad } = await allOf(dir);
      expect(texts).toEqual(['{"a":1}', '{"c":3}', '{"d":4}']);
      expect(bad).toEqual([
        { path: join(dir, '00000001.log'), offset: first.length - damaged.length, lostBytes: damaged.length },
      ]);
    }));

  it('B09 reads on behind a first frame that is damaged, and names it', () =>
    withFolder(async (dir) => {
      const damaged = encodeFrame('{"a":1}');
      damaged[10] ^= 1;
      const rest = ['{"b":2}', '{"c":3}'].map(encodeFrame);
      writeFileSync(join(dir, '00000001.log'), Buffer.concat([damaged, ...rest]));
      expect(await allOf(dir)).toEqual({
        texts: ['{"b":2}', '{"c":3}'],
        bad: [{ path: join(dir, '00000001.log'), offset: 0, lostBytes: damaged.length }],
      });
    }));

  it('B01 hands on nothing of a living epoch behind what is synced', () =>
    withFolder(async (dir) => {
      const frames = ['{"a":1}', '{"b":2}', '{"c":3}'].map(encodeFrame);
      writeFileSync(join(dir, '00000001.log'), Buffer.concat(frames));
      writeFileSync(join(dir, '00000002.log'), Buffer.concat(frames));
      const synced = { segment: 2, offset: frames[0].length, seq: 4 };
      expect((await allOf(dir, synced)).texts).toEqual(['{"a":1}', '{"b":2}', '{"c":3}', '{"a":1}']);
    }));

  it('takes segments by their numbers, whatever the order and length of their names', () => {
    const names = [
      '00000010.log',
      '100000000.log',
      '00000002.log',
      '00000001.log.quarantine',
      '00000003.log',
    ];
    const disk = { list: () => names } as unknown as Disk;
    expect(segmentsIn(disk, 'anywhere')).toEqual([2, 3, 10, 100_000_000]);
  });
});
