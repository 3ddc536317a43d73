import type { Clock, Random } from '@gateway/contracts';
import { unavailable } from '@gateway/platform';

const WAITING_MAX = 64;
const WAIT_MS = 3_000;

/**
 * Writes of one process, one after the other: each makes a whole snapshot under the lock of all processes. Those that
 * wait here hold no connection, which reads and the write itself need. Who waits too long is refused with
 * service_unavailable.
 */
export class WriteQueue {
  private last: Promise<void> = Promise.resolve();
  private waiting = 0;

  constructor(
    private readonly clock: Pick<Clock, 'setTimer'>,
    private readonly random: Random,
  ) {}

  async run<T>(write: () => Promise<T>): Promise<T> {
    if (this.waiting >= WAITING_MAX) throw unavailable(this.random, new Error('too many writes wait'));
    const before = this.last;
    let end: () => void = () => undefined;
    const own = new Promise<void>((resolve) => (end = resolve));
    // Also where this one has given up: its place is free once the one before has ended.
    this.last = Promise.all([before, own]).then(() => undefined);
    this.waiting += 1;
    try {
      await this.begun(before).finally(() => (this.waiting -= 1));
      return await write();
    } finally {
      end();
    }
  }

  private begun(before: Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      const late = this.clock.setTimer(WAIT_MS, () =>
        reject(unavailable(this.random, new Error(`no turn to write within ${WAIT_MS} ms`))),
      );
      void before.then(() => {
        late.cancel();
        resolve();
      });
    });
  }
}
