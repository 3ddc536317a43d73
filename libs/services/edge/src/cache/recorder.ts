import type { UnitUsage } from '@gateway/contracts';
import { replayed, replayedUsage } from './replayed.js';
import { ANSWER_BYTES_MAX, type CachedAnswer } from './response-cache.js';

/** Keeps what is sent of one answer, until it is too long. */
export class Recorder {
  private parts: string[] | null = [];
  private length = 0;

  see(out: string | Uint8Array): void {
    if (this.parts === null) return;
    if (typeof out !== 'string' || (this.length += out.length) > ANSWER_BYTES_MAX) this.parts = null;
    else this.parts.push(out);
  }

  /** The whole answer for later callers; null where it was too long or is no text. */
  answer(
    usage: UnitUsage,
    {
      headers,
      isStream,
      nowMs,
      endUser,
    }: Pick<CachedAnswer, 'headers' | 'endUser'> & { isStream: boolean; nowMs: number },
  ): CachedAnswer | null {
    if (this.parts === null) return null;
    const out = replayed(this.parts.join(''), isStream);
    return { headers, out, usage: replayedUsage(usage), storedAtMs: nowMs, endUser };
  }
}
