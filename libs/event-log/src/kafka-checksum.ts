import { createRequire } from 'node:module';
import type crc32 from '@node-rs/crc32';

/**
 * Gives kafkajs a native CRC-32C. Its own loop is thrown out of optimised code at nearly every long call and compiled
 * anew (kafkajs 2.2.4 on Node 24): 30 µs of a 3 KB record, and a compiler thread that never rests. Must be imported
 * before kafkajs, which keeps the function that it found.
 */
const require = createRequire(import.meta.url);
const path = 'kafkajs/src/protocol/recordBatch/crc32C';
require(path);
const loaded = require.cache[require.resolve(path)];
const native = nativeCrc32();
if (loaded !== undefined && native !== null) loaded.exports = native.crc32c;

/** Null on a platform that the package has no binary for: kafkajs then keeps its own, which is only slower. */
function nativeCrc32(): typeof crc32 | null {
  try {
    return require('@node-rs/crc32') as typeof crc32;
  } catch {
    return null;
  }
}
