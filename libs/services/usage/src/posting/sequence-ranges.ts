import type { Stamp } from './read-batch.js';

/** Sequence numbers of one producer's epoch, as the text of an int8multirange. */
export interface AppliedRanges {
  producer: string;
  epoch: string;
  ranges: string;
}

/** Returns the numbers that a batch applied, joined into ranges, in the order in which their rows are locked. */
export function appliedRanges(stamps: Iterable<Stamp>): AppliedRanges[] {
  const byEpoch = new Map<string, { producer: string; epoch: string; seqs: number[] }>();
  for (const { producer, epoch, seq } of stamps) {
    const name = `${producer}\n${epoch}`;
    const known = byEpoch.get(name);
    if (known) known.seqs.push(seq);
    else byEpoch.set(name, { producer, epoch, seqs: [seq] });
  }
  return [...byEpoch]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { producer, epoch, seqs }]) => ({ producer, epoch, ranges: `{${joined(seqs).join(',')}}` }));
}

function joined(seqs: number[]): string[] {
  const ranges: string[] = [];
  let start: number | null = null;
  let end = 0;
  for (const seq of seqs.toSorted((a, b) => a - b)) {
    if (start !== null && seq <= end) {
      end = Math.max(end, seq + 1);
      continue;
    }
    if (start !== null) ranges.push(`[${start},${end})`);
    start = seq;
    end = seq + 1;
  }
  if (start !== null) ranges.push(`[${start},${end})`);
  return ranges;
}
