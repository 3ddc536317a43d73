import { randomFillSync } from 'node:crypto';
import type { Random } from '@gateway/contracts';

const POOL_BYTES = 4_096;

/** Cryptographically strong bytes, drawn from the system in blocks because one draw costs a system call. */
export class SystemRandom implements Random {
  private readonly pool = new Uint8Array(POOL_BYTES);
  private used = POOL_BYTES;

  bytes(size: number): Uint8Array {
    if (size > POOL_BYTES) return randomFillSync(new Uint8Array(size));
    if (this.used + size > POOL_BYTES) {
      randomFillSync(this.pool);
      this.used = 0;
    }
    const drawn = this.pool.slice(this.used, this.used + size);
    // Bytes that were handed out, for a secret perhaps, do not stay in the pool.
    this.pool.fill(0, this.used, this.used + size);
    this.used += size;
    return drawn;
  }

  fraction(): number {
    return Math.random();
  }
}
