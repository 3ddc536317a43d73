import { hkdfSync } from 'node:crypto';

const KEY_BYTES = 32;

/** Keys that every service of the fleet has and nobody else: what one process seals, another one opens. */
export class FleetSecret {
  constructor(private readonly fleetTokens: readonly string[]) {}

  /** One for each token that is in force, that of the newest first; another purpose has other keys. */
  keysFor(purpose: string): readonly Uint8Array[] {
    return this.fleetTokens.map((token) => new Uint8Array(hkdfSync('sha256', token, '', purpose, KEY_BYTES)));
  }
}
