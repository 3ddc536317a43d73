/** A map that forgets its oldest entry past `limit`. Touching an entry makes it the newest. */
export class BoundedCache<V> {
  private readonly entries = new Map<string, V>();

  constructor(private readonly limit: number) {}

  get size(): number {
    return this.entries.size;
  }

  get(key: string): V | undefined {
    const value = this.entries.get(key);
    // While there is room the order does not matter, and re-inserting on every request would cost time.
    if (value !== undefined && this.entries.size > this.limit * 0.9) {
      this.entries.delete(key);
      this.entries.set(key, value);
    }
    return value;
  }

  set(key: string, value: V): void {
    this.entries.delete(key);
    this.entries.set(key, value);
    if (this.entries.size <= this.limit) return;
    for (const oldest of this.entries.keys()) {
      this.entries.delete(oldest);
      break;
    }
  }

  delete(key: string): void {
    this.entries.delete(key);
  }
}
