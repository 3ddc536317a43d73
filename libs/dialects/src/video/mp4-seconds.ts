/** Boxes that are looked at: more are no file that a model makes. */
const BOXES_MAX = 1_000;

/** Returns the playing time of an mp4 by its header; null where it has none. */
export function mp4Seconds(file: Uint8Array): number | null {
  const data = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  const moov = boxIn(data, 'moov');
  const mvhd = moov && boxIn(moov, 'mvhd');
  if (!mvhd || mvhd.length < 20) return null;
  const isLong = mvhd[0] === 1;
  if (isLong && mvhd.length < 32) return null;
  const scale = mvhd.readUInt32BE(isLong ? 20 : 12);
  const length = isLong ? Number(mvhd.readBigUInt64BE(24)) : mvhd.readUInt32BE(16);
  return scale === 0 ? null : length / scale;
}

function boxIn(data: Buffer, wanted: string): Buffer | null {
  let at = 0;
  for (let n = 0; n < BOXES_MAX && at + 8 <= data.length; n += 1) {
    const short = data.readUInt32BE(at);
    if (short === 1 && at + 16 > data.length) return null;
    const size = short === 1 ? Number(data.readBigUInt64BE(at + 8)) : short === 0 ? data.length - at : short;
    const head = short === 1 ? 16 : 8;
    if (size < head) return null;
    if (data.toString('latin1', at + 4, at + 8) === wanted)
      return data.subarray(at + head, Math.min(data.length, at + size));
    at += size;
  }
  return null;
}
