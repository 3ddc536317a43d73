import type { MakeRoom } from '@gateway/contracts';

/** Read with the first look; larger things once there is room for them. */
const AT_ONCE_BYTES = 262_144;

/** A row that says how large what was looked for is; the rest of it is null where that is more than was asked for. */
interface Sized {
  bytes: number;
}

/**
 * What `look` finds, read once there is room for it: where it is large a second time, for what has grown meanwhile once
 * more. Throws what `makeRoom` throws.
 */
export async function sized<T extends Sized>(
  look: (bytesMax: number) => Promise<T | undefined>,
  makeRoom: MakeRoom,
): Promise<T | undefined> {
  for (let bytesMax = AT_ONCE_BYTES; ;) {
    const found = await look(bytesMax);
    if (found === undefined) return undefined;
    makeRoom(found.bytes);
    if (found.bytes <= bytesMax) return found;
    bytesMax = found.bytes;
  }
}
