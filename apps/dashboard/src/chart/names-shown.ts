/** Width of a character of a label, and the gap between two labels, in pixels. */
const CHARACTER_PX = 7;
const GAP_PX = 16;

/** Returns the buckets whose labels have room, at equal steps from the first. */
export function namesShown(labels: readonly string[], band: number): number[] {
  const widest = Math.max(0, ...labels.map(({ length }) => length)) * CHARACTER_PX + GAP_PX;
  const step = Math.max(1, Math.ceil(widest / band));
  return labels.map((_, at) => at).filter((at) => at % step === 0);
}
