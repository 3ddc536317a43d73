const SLOTS = 16_384;

/** Slot of a key: CRC-16 (XMODEM) of what is between the first braces, or of the whole key (Redis Cluster specification). */
export function hashSlot(key: string): number {
  const open = key.indexOf('{');
  const close = key.indexOf('}', open + 1);
  const hashed = open >= 0 && close > open + 1 ? key.slice(open + 1, close) : key;
  let crc = 0;
  for (const byte of Buffer.from(hashed)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1)
      crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : (crc << 1) & 0xffff;
  }
  return crc % SLOTS;
}
