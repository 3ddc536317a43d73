import { atLeast, MOST_BYTES } from './most-bytes.js';

const HEAD_BYTES = 65_536;
const CLUSTER = Buffer.from([0x1f, 0x43, 0xb6, 0x75]);
const CLUSTERS_MAX = 100_000;
const TIMESTAMP = 0xe7;
/** Name of a video codec in a track. */
const PICTURES = /\x86[\x80-\xff]V_/;
const WITHOUT_LOSS = /\x86[\x80-\xff]A_(?:PCM|FLAC|ALAC)/;

/**
 * Duration of the segment's Info in its scale, or where its last cluster begins: one that was recorded as it came has
 * no other.
 */
export function webmSeconds(data: Buffer): number | null {
  const head = data.subarray(0, HEAD_BYTES);
  const scaleAt = head.indexOf(Buffer.from([0x2a, 0xd7, 0xb1]));
  const scale = scaleAt < 0 ? 1_000_000 : head.readUIntBE(scaleAt + 4, head[scaleAt + 3] & 0x07);
  const seconds = (Math.max(said(head), lastCluster(data)) * scale) / 1e9;
  const names = head.toString('latin1');
  if (PICTURES.test(names)) return seconds;
  return atLeast(seconds, data.length, WITHOUT_LOSS.test(names) ? MOST_BYTES.lossless : MOST_BYTES.lossy);
}

function said(head: Buffer): number {
  const at = head.indexOf(Buffer.from([0x44, 0x89]));
  if (at < 0) return 0;
  const ticks = head[at + 2] === 0x88 ? head.readDoubleBE(at + 3) : head.readFloatBE(at + 3);
  return ticks > 0 ? ticks : 0;
}

function lastCluster(data: Buffer): number {
  let last = 0;
  let at = data.indexOf(CLUSTER);
  for (let n = 0; at >= 0 && n < CLUSTERS_MAX; n += 1) {
    // The size of a cluster has as many bytes as its first one has leading zeros, and one more.
    const time = at + CLUSTER.length + Math.clz32(data[at + CLUSTER.length]) - 23;
    const size = data[time + 1] & 0x0f;
    if (data[time] === TIMESTAMP && size >= 1 && size <= 6 && time + 2 + size <= data.length)
      last = Math.max(last, data.readUIntBE(time + 2, size));
    at = data.indexOf(CLUSTER, at + CLUSTER.length);
  }
  return last;
}
