import type { Clock, Inference } from '@gateway/contracts';
import { repeat } from '@gateway/platform';
import type { BatchLine } from './batch-lines.js';
import type { Batch } from './batches.store.js';

/** A third of the time after which an edge lets a hold go that nobody renews. */
const RENEW_MS = 30_000;
/** Pauses between tries to release a hold that is no longer needed, while the edge is unreachable. */
const END_WAIT_MS = { first: 500, max: 4_000 };
/** Lines of one question what they are worth. */
const LINES_AT_ONCE = 128;
const SIZE_AT_ONCE = 1_048_576;

/** The cost of all lines of a file together, asked in pieces. */
export class BatchWorth {
  private sum = 0n;
  private bodies: Record<string, unknown>[] = [];
  private size = 0;

  constructor(
    private readonly inference: Inference,
    private readonly batch: Batch,
  ) {}

  async see({ body, length }: BatchLine): Promise<void> {
    this.bodies.push(body);
    this.size += length;
    if (this.bodies.length >= LINES_AT_ONCE || this.size >= SIZE_AT_ONCE) await this.ask();
  }

  async total(): Promise<bigint> {
    await this.ask();
    return this.sum;
  }

  private async ask(): Promise<void> {
    const { bodies, inference } = this;
    if (bodies.length === 0) return;
    const { key_id, account_id, request_id, endpoint } = this.batch;
    const whose = { key_id, account_id, request_id, unit: 0, recorded_path: '/v1/batches', endpoint };
    [this.bodies, this.size] = [[], 0];
    this.sum += BigInt(await inference.worth({ ...whose, body: {}, is_batch: true }, bodies));
  }
}

/**
 * The money of a batch's lines that hold none by themselves: of all lines at first and while a provider has them. It is
 * less with every line that is posted, or that begins here and holds its own. It gives way to the batch's own lines where
 * there is no room for both.
 */
export class BatchHold {
  private left: number;
  private nano = 0n;
  /** Lines that are about to begin here and have room of their own. */
  private ahead = 0;

  constructor(
    private readonly inference: Inference,
    private readonly clock: Clock,
    private readonly of: { batch: Batch; linesAtOnce: number },
  ) {
    this.left = of.batch.total;
  }

  /** Throws ApiError `spend_limit_exceeded` where there is not that much. */
  async first(): Promise<void> {
    this.nano = this.due();
    if (this.nano > 0n) await this.put(true);
  }

  /** `done` lines are posted; the others are run here, or are posted with the answers of their provider. */
  async goOn(done: number, others: 'run' | 'posted'): Promise<void> {
    const held = this.nano;
    this.left = Math.max(0, this.of.batch.total - done);
    this.ahead = others === 'run' ? this.of.linesAtOnce : 0;
    this.nano = this.due();
    if (this.nano !== held) await this.put(false).catch(() => undefined);
  }

  /** Renewed while the lines run, and let go. */
  async during(lines: () => Promise<void>): Promise<void> {
    await this.renewed(lines);
    await this.end();
  }

  /** A provider has the lines, and nobody works on them for a while. */
  async keep(): Promise<void> {
    [this.left, this.ahead] = [this.of.batch.total, 0];
    this.nano = this.due();
    if (this.nano > 0n) await this.put(false);
  }

  /** Renews the hold during the work. Another worker may continue after a failure: what it does not renew lapses. */
  async renewed<T>(work: () => Promise<T>): Promise<T> {
    // Where the edge cannot be asked, lines cannot be run either.
    const renew = async (): Promise<void> => (this.nano > 0n ? this.put(false) : undefined);
    const renewal = repeat(this.clock, RENEW_MS, renew, () => undefined);
    try {
      return await work();
    } finally {
      await renewal.stop();
    }
  }

  /** Gives up the part of a line, before it is run here or once it is posted. */
  async less(): Promise<void> {
    this.left = Math.max(0, this.left - 1);
    if (this.nano === 0n || this.left % this.of.linesAtOnce !== 0) return;
    this.nano = this.due();
    await this.put(false).catch(() => undefined);
  }

  /** False where nothing was held: the line was refused for another reason. */
  async giveWay(): Promise<boolean> {
    if (this.nano === 0n) return false;
    this.nano = 0n;
    await this.put(false);
    return true;
  }

  /** Nothing is left to be run: it would lapse, but that takes a while. */
  async end(): Promise<void> {
    if (this.of.batch.worth_nano === null || this.of.batch.worth_nano === '0') return;
    this.nano = 0n;
    for (let waitMs = END_WAIT_MS.first; waitMs <= END_WAIT_MS.max; waitMs *= 2) {
      try {
        return await this.put(false);
      } catch {
        await this.clock.sleep(waitMs);
      }
    }
  }

  private due(): bigint {
    const { batch } = this.of;
    const waiting = Math.max(0, this.left - this.ahead);
    return batch.total === 0 ? 0n : (BigInt(batch.worth_nano ?? 0) * BigInt(waiting)) / BigInt(batch.total);
  }

  private put(isFirst: boolean): Promise<void> {
    const { key_id, account_id, request_id, model } = this.of.batch;
    const nano = String(this.nano);
    return this.inference.hold({ key_id, account_id, request_id, model, nano, is_first: isFirst });
  }
}
