/** A variable of the operator's environment. */
type EnvReader = (name: string) => string | undefined;

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

/** Returns a reader of variables that a way cannot do without. It throws TypeError for one that is not set. */
export function neededBy(read: EnvReader, way: string): (name: string) => string {
  return (name) => {
    const value = read(name);
    if (value === undefined) throw new TypeError(`${name} is not set: ${way} needs it.`);
    return value;
  };
}
