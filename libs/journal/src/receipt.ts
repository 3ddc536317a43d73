import type { SyncOf } from './segment-writer.js';

export class Receipt {
  constructor(
    readonly seq: number,
    private readonly frames: SyncOf,
  ) {}

  /** Resolves when the outcome is on the disk; never rejects, because a failing disk is tried for ever. */
  get synced(): Promise<void> {
    return this.frames.synced;
  }
}
