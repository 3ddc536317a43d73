/** A line of two texts side by side; null where one lacks it. */
export interface DiffLine {
  before: string | null;
  after: string | null;
}

/** Number of pairs of lines above which both texts are shown whole, as different. */
const PAIRS_MAX = 1_000_000;

/** Lines of two texts beside each other, by their longest common subsequence. */
export function lineDiff(before: string, after: string): DiffLine[] {
  const left = before.split('\n');
  const right = after.split('\n');
  if (left.length * right.length > PAIRS_MAX) return [...removed(left), ...added(right)];
  const common = commonLengths(left, right);
  const lines: DiffLine[] = [];
  let i = 0;
  let j = 0;
  while (i < left.length && j < right.length) {
    if (left[i] === right[j]) lines.push({ before: left[i++], after: right[j++] });
    else if (common[i + 1][j] >= common[i][j + 1]) lines.push({ before: left[i++], after: null });
    else lines.push({ before: null, after: right[j++] });
  }
  return [...lines, ...removed(left.slice(i)), ...added(right.slice(j))];
}

/** [i][j] = how many lines are common to what follows line i and line j. */
function commonLengths(left: readonly string[], right: readonly string[]): number[][] {
  const lengths = Array.from({ length: left.length + 1 }, () => new Array<number>(right.length + 1).fill(0));
  for (let i = left.length - 1; i >= 0; i -= 1) {
    for (let j = right.length - 1; j >= 0; j -= 1) {
      lengths[i][j] =
        left[i] === right[j] ? lengths[i + 1][j + 1] + 1 : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
    }
  }
  return lengths;
}

const removed = (lines: readonly string[]): DiffLine[] => lines.map((before) => ({ before, after: null }));
const added = (lines: readonly string[]): DiffLine[] => lines.map((after) => ({ before: null, after }));
