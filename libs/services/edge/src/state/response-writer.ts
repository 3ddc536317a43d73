import type { ResponseStore, StoredResponse } from '@gateway/contracts';
import type { Deadlines } from '@gateway/platform';
import { WriteBehind } from './write-behind.js';

const MAX = { waiting: 4_096, bytes: 64 * 1_048_576, batchBytes: 16 * 1_048_576 };
/** Time that an answer waits to be stored. */
const WAIT_MS = 1_000;
/** A single response that is larger is not kept. */
const ONE_BYTES_MAX = 12 * 1_048_576;

/** Keeps responses before the last bytes of their answers leave. */
export class ResponseWriter {
  private readonly behind: WriteBehind<StoredResponse>;

  /** `onDropped` gets the number of responses that will never be kept. */
  constructor(
    store: ResponseStore,
    private readonly deadlines: Pick<Deadlines, 'set'>,
    private readonly onDropped: (count: number, cause: unknown) => void,
  ) {
    this.behind = new WriteBehind({
      write: (batch) => store.store(batch),
      accountOf: ({ account_id }) => account_id,
      deadlines,
      onDropped,
      max: MAX,
      lingerMs: 0,
    });
  }

  /**
   * Resolves once it is kept, so that who reads the answer can go on from it; at the latest after a second, and at once
   * while the store is unavailable.
   */
  store(response: StoredResponse): Promise<void> {
    const bytes = Buffer.byteLength(JSON.stringify(response));
    return new Promise((resolve) => {
      if (bytes > ONE_BYTES_MAX) {
        this.onDropped(1, new Error('the response is too large'));
        return resolve();
      }
      const late = this.deadlines.set(WAIT_MS, resolve);
      this.behind.add(response, bytes, () => {
        late.cancel();
        resolve();
      });
      if (this.behind.isFailing) resolve();
    });
  }

  flush(): Promise<void> {
    return this.behind.flush();
  }
}
