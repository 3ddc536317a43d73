import type { ReserveMemory } from '@gateway/contracts';

/** Bytes read at the first look; larger values are read once the memory budget allows. */
const AT_ONCE_BYTES = 262_144;

/** A row that says how large what was looked for is; the rest of it is null where that is more than was asked for. */
interface Sized {
  bytes: number;
}

/**
 * Reads what `look` finds once the memory budget allows it: a large value a second time, and a grown one once more.
 * Throws what `reserveMemory` throws.
 */
export async function sized<T extends Sized>(
  look: (bytesMax: number) => Promise<T | undefined>,
  reserveMemory: ReserveMemory,
): Promise<T | undefined> {
  for (let bytesMax = AT_ONCE_BYTES; ;) {
    const found = await look(bytesMax);
    if (found === undefined) return undefined;
    reserveMemory(found.bytes);
    if (found.bytes <= bytesMax) return found;
    bytesMax = found.bytes;
  }
}
