/** Items of one call to Redis at most: a script holds up everybody else as long as it runs. */
const ITEMS_MAX = 64;

interface Batch<T, R> {
  items: T[];
  sent: Promise<R>;
}

/**
 * Sends the calls of one tick for several accounts to Redis as one script, where their keys may be in one. A call costs
 * more than most accounts in it. They share its failure and its answer.
 */
export class TickBatches<T, R = void> {
  private readonly open = new Map<number, Batch<T, R>>();

  constructor(private readonly send: (items: T[]) => Promise<R>) {}

  add(slot: number, item: T): Promise<R> {
    const batch = this.open.get(slot) ?? this.begin(slot);
    batch.items.push(item);
    if (batch.items.length >= ITEMS_MAX) this.open.delete(slot);
    return batch.sent;
  }

  private begin(slot: number): Batch<T, R> {
    const items: T[] = [];
    // Behind everything that this tick has requested already.
    const sent = Promise.resolve().then(() => {
      if (this.open.get(slot)?.items === items) this.open.delete(slot);
      return this.send(items);
    });
    const batch = { items, sent };
    this.open.set(slot, batch);
    return batch;
  }
}
