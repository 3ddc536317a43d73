/** Number of items that one tick of the event loop takes. */
const A_TURN = 32;

/**
 * Work that can wait, done in order and a little in each tick of the event loop: what arrives meanwhile goes first. It
 * bounds nothing itself; whoever adds to it holds a bounded number of things.
 */
export class Later {
  private readonly waiting: (() => void)[] = [];
  private isScheduled = false;

  add(work: () => void): void {
    this.waiting.push(work);
    this.schedule();
  }

  private schedule(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    setImmediate(() => {
      this.isScheduled = false;
      for (const work of this.waiting.splice(0, A_TURN)) work();
      if (this.waiting.length > 0) this.schedule();
    });
  }
}
