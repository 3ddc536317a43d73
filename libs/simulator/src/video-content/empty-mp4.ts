/** The head of an mp4 that says how long it plays, and nothing to see. */
export function emptyMp4(seconds: number): Buffer {
  const header = Buffer.alloc(100);
  header.writeUInt32BE(1_000, 12);
  header.writeUInt32BE(seconds * 1_000, 16);
  const type = Buffer.from('isom\0\0\x02\0isomiso2mp41', 'latin1');
  return Buffer.concat([box('ftyp', type), box('moov', box('mvhd', header))]);
}

function box(name: string, content: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(content.length + 8, 0);
  head.write(name, 4, 'latin1');
  return Buffer.concat([head, content]);
}
