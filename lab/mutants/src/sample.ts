/** `size` of the items, the same for the same seed, in their order. */
export function sample<T>(items: readonly T[], size: number, seed: number): T[] {
  const next = generator(seed);
  return items
    .map((item, index) => ({ item, index, draw: next() }))
    .sort((a, b) => a.draw - b.draw)
    .slice(0, size)
    .sort((a, b) => a.index - b.index)
    .map(({ item }) => item);
}

/** mulberry32. */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}
