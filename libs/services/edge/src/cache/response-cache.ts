import type { ErasedEndUser, UnitUsage } from '@gateway/contracts';

/** An answer as it is given again. */
export interface CachedAnswer {
  headers: Readonly<Record<string, string>>;
  out: string;
  usage: UnitUsage;
  storedAtMs: number;
  /** End user of the answer, with the time of the request; null where the request named none. */
  endUser: (Omit<ErasedEndUser, 'erasedAtMs'> & { requestedAtMs: number }) | null;
}

/** Size of all answers together: the oldest are dropped above it. */
const BYTES_MAX = 64 * 1024 * 1024;
/** A longer answer is not kept. */
export const ANSWER_BYTES_MAX = 1024 * 1024;
/** Memory of an entry beside its text. */
const ENTRY_BYTES = 512;

/** Cached answers of keys that have a response cache, in this process. The one that was used longest ago goes first. */
export class ResponseCache {
  private readonly answers = new Map<string, CachedAnswer>();
  private bytes = 0;
  private ofEndUsers = 0;
  /** Called for each answer to an end user that is kept. */
  onEndUser: () => void = () => undefined;

  get keepsEndUsers(): boolean {
    return this.ofEndUsers > 0;
  }

  /** Null where there is none, or none young enough. */
  find(name: string, ttlMs: number, nowMs: number): CachedAnswer | null {
    const found = this.answers.get(name);
    if (found === undefined || nowMs - found.storedAtMs >= ttlMs) return null;
    this.answers.delete(name);
    this.answers.set(name, found);
    return found;
  }

  store(name: string, answer: CachedAnswer): void {
    this.remove(name);
    this.answers.set(name, answer);
    this.bytes += sizeOf(answer);
    if (answer.endUser !== null) {
      this.ofEndUsers += 1;
      this.onEndUser();
    }
    for (const oldest of this.answers.keys()) {
      if (this.bytes <= BYTES_MAX) break;
      this.remove(oldest);
    }
  }

  /** Drops the end user's answers up to then. Looks at every answer: erasures are rare. */
  forget({ accountId, endUserHash, erasedAtMs }: ErasedEndUser): void {
    for (const [name, { endUser }] of this.answers) {
      if (endUser === null || endUser.endUserHash !== endUserHash || endUser.accountId !== accountId)
        continue;
      if (endUser.requestedAtMs <= erasedAtMs) this.remove(name);
    }
  }

  private remove(name: string): void {
    const known = this.answers.get(name);
    if (known === undefined) return;
    this.answers.delete(name);
    this.bytes -= sizeOf(known);
    if (known.endUser !== null) this.ofEndUsers -= 1;
  }
}

/** A character takes two bytes at most. */
function sizeOf({ out }: CachedAnswer): number {
  return out.length * 2 + ENTRY_BYTES;
}
