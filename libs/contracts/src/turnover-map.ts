interface Entry<V> {
  value: V | undefined;
}

/**
 * A Map for what comes and goes with every request, in the order of insertion. V8 links each table that a Map or a Set
 * has outgrown to the next one (`OrderedHashTable::Rehash`). Once one of them is old and dead, all later ones survive
 * until a full collection, with whatever they ever held. An entry that leaves is emptied here, so that such tables hold
 * keys and no requests.
 */
export class TurnoverMap<K, V> {
  private readonly entries = new Map<K, Entry<V>>();

  get size(): number {
    return this.entries.size;
  }

  get(key: K): V | undefined {
    return this.entries.get(key)?.value;
  }

  /** A key that is there keeps its place. */
  set(key: K, value: V): void {
    const entry = this.entries.get(key);
    if (entry === undefined) this.entries.set(key, { value });
    else entry.value = value;
  }

  /** @returns whether it was there. */
  delete(key: K): boolean {
    const entry = this.entries.get(key);
    if (entry === undefined) return false;
    entry.value = undefined;
    return this.entries.delete(key);
  }

  *values(): Generator<V> {
    for (const { value } of this.entries.values()) yield value as V;
  }
}
