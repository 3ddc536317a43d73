/** Sets the newest entry of a map; the oldest goes where there are too many. */
export function remember<V>(map: Map<string, V>, key: string, value: V, max: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > max) map.delete(oldest);
}
