/** Returns the way that a variable names, or undefined where it is not set. Throws TypeError for an unknown one. */
export function wayOf<Way extends string>(
  variable: string,
  value: string | undefined,
  ways: readonly Way[],
): Way | undefined {
  if (value === undefined) return undefined;
  const way = ways.find((known) => known === value);
  if (way === undefined) throw new TypeError(`${variable} must be one of ${ways.join(', ')}.`);
  return way;
}
