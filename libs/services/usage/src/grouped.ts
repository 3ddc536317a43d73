/** Items by the name that `nameOf` gives them, in the order of their first item. */
export function grouped<K, T>(items: Iterable<T>, nameOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const name = nameOf(item);
    const group = groups.get(name);
    if (group) group.push(item);
    else groups.set(name, [item]);
  }
  return groups;
}
