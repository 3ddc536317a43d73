const POLYNOMIAL = 0x82f63b78;
const STEP = 8;
const tables = makeTables();

/** Eight tables: the k-th tells what a byte does to the sum when k further bytes follow it. */
function makeTables(): Int32Array {
  const made = new Int32Array(256 * STEP);
  for (let byte = 0; byte < 256; byte += 1) {
    let sum = byte;
    for (let bit = 0; bit < 8; bit += 1) sum = sum & 1 ? (sum >>> 1) ^ POLYNOMIAL : sum >>> 1;
    made[byte] = sum;
  }
  for (let byte = 0; byte < 256; byte += 1) {
    let sum = made[byte];
    for (let table = 1; table < STEP; table += 1) {
      sum = made[sum & 255] ^ (sum >>> 8);
      made[table * 256 + byte] = sum;
    }
  }
  return made;
}

/** CRC-32C (Castagnoli, RFC 3720 appendix B.4) of the bytes, eight at a time; unsigned. */
export function crc32c(bytes: Uint8Array): number {
  const end = bytes.length - (bytes.length % STEP);
  let sum = -1;
  let at = 0;
  for (; at < end; at += STEP) {
    sum ^= bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
    sum =
      tables[1792 + (sum & 255)] ^
      tables[1536 + ((sum >>> 8) & 255)] ^
      tables[1280 + ((sum >>> 16) & 255)] ^
      tables[1024 + (sum >>> 24)] ^
      tables[768 + bytes[at + 4]] ^
      tables[512 + bytes[at + 5]] ^
      tables[256 + bytes[at + 6]] ^
      tables[bytes[at + 7]];
  }
  for (; at < bytes.length; at += 1) sum = tables[(sum ^ bytes[at]) & 255] ^ (sum >>> 8);
  return ~sum >>> 0;
}
