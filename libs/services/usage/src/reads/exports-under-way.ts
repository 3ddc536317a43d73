import { ApiError, type Clock, type Random } from '@gateway/contracts';
import { unavailable } from '@gateway/platform';

/** CSVs that one process writes at once: each holds a page of events and a connection now and then. */
const ALL_MAX = 8;
const RETRY_SECONDS = 10;
/** Bytes of a file that a reader has to take in a second to be sure of its place. */
const PACE = 65_536;
/** Time for which a reader may have been behind that pace. */
const BEHIND_MS = 10_000;

/** Exports that are being written. */
export class ExportsUnderWay {
  private readonly places = new Set<Place>();

  constructor(
    private readonly clock: Clock,
    private readonly random: Random,
  ) {}

  /**
   * Takes a place. `close` breaks the export off: where no place is free, an account that has none takes that of the reader
   * who is furthest behind the pace. An account takes no more places than it leaves free: alone it has half of them, and slow
   * readers of two accounts cannot hold all. Throws ApiError `rate_limit_exceeded` for an account that has its share,
   * `service_unavailable` where no place is free and nobody is slow.
   */
  begin(accountId: string, close: () => void): Place {
    const own = [...this.places].filter((place) => place.accountId === accountId).length;
    const free = ALL_MAX - this.places.size;
    if (own > 0 && own >= free)
      throw new ApiError('rate_limit_exceeded', {
        message: 'Too many exports of this account are being downloaded: wait until one of them has ended.',
        retryAfterSeconds: RETRY_SECONDS,
      });
    if (free === 0 && !this.closeSlowest()) throw unavailable(this.random);
    const place = new Place({
      accountId,
      clock: this.clock,
      close,
      ended: () => this.places.delete(place),
    });
    this.places.add(place);
    return place;
  }

  /** Returns true if one was closed. */
  private closeSlowest(): boolean {
    const [slowest] = [...this.places].toSorted((a, b) => b.behindMs() - a.behindMs());
    if (slowest.behindMs() <= BEHIND_MS) return false;
    slowest.close();
    return true;
  }
}

/**
 * Place of one export. Its reader is behind for as long as parts of the file wait for it, less what the pace allows for
 * them.
 */
export class Place {
  readonly accountId: string;
  private owedMs = 0;
  private waitsFromMs: number | null = null;

  constructor(
    private readonly deps: { accountId: string; clock: Clock; close: () => void; ended: () => void },
  ) {
    this.accountId = deps.accountId;
  }

  /** The parts as they come, timed while the reader takes them: what the database takes is not the reader's fault. */
  async *timed(parts: AsyncIterable<string>): AsyncGenerator<string> {
    for await (const part of parts) {
      // One who was fast before is given no more time for it.
      this.owedMs = Math.max(0, this.owedMs) - (part.length / PACE) * 1_000;
      this.waitsFromMs = this.deps.clock.monotonic();
      yield part;
      this.owedMs = this.behindMs();
      this.waitsFromMs = null;
    }
  }

  behindMs(): number {
    return this.owedMs + (this.waitsFromMs === null ? 0 : this.deps.clock.monotonic() - this.waitsFromMs);
  }

  /** Gives it back. Once or more often. */
  end(): void {
    this.deps.ended();
  }

  /** Gives it back and breaks the export off. */
  close(): void {
    this.end();
    this.deps.close();
  }
}
