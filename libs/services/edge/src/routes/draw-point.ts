import { createHash } from 'node:crypto';

const BYTES = 6;

/** Returns a number from 0 to below 1 for a unit: the same one whenever it is planned, and equally likely everywhere. */
export function drawPoint(requestId: string, unitIndex: number): number {
  const digest = createHash('sha256').update(`${requestId}/${unitIndex}`).digest();
  return digest.readUIntBE(0, BYTES) / 256 ** BYTES;
}
