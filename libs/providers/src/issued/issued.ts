/** Asks a cloud's library; the library keeps what it got and renews it before it ends. */
export type Source<T> = () => Promise<T>;

/**
 * A credential that a cloud issues for some minutes or hours. One request for it is under way at a time, however many
 * calls wait. The library is opened where the first call needs it.
 */
export class Issued<T> {
  private source: Promise<Source<T>> | null = null;
  private waiting: Promise<T> | null = null;
  private last: T | null = null;

  /** `open`: makes a source that remembers nothing. */
  constructor(private readonly open: () => Promise<Source<T>>) {}

  /** Returns what holds now. Rejects where the cloud refuses or does not answer; the next call asks again. */
  current(): Promise<T> {
    this.waiting ??= this.ask().finally(() => {
      this.waiting = null;
    });
    return this.waiting;
  }

  /**
   * Drops what was issued last if a provider has refused it, so that the next call asks anew. True if the next call gives
   * something else: also where another call has dropped it before.
   */
  async renew(isRefused: (last: T) => boolean): Promise<boolean> {
    // A call under way may bring the refused one again, from the library's memory, or already the next.
    await this.waiting?.catch(() => undefined);
    if (this.last === null) return false;
    if (isRefused(this.last)) this.source = null;
    return true;
  }

  private async ask(): Promise<T> {
    this.source ??= this.open();
    const { source } = this;
    try {
      const issued = await (await source)();
      this.last = issued;
      return issued;
    } catch (error) {
      // A library that could not be opened, or that has remembered a failure, is made anew.
      this.source = null;
      throw error;
    }
  }
}
