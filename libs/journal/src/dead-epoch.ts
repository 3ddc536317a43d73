import { join } from 'node:path';
import type { OnAlarm } from './alarm.js';
import { type Disk, segmentName, segmentsIn } from './disk.js';
import { EpochReader, WINDOW_BYTES } from './epoch-reader.js';
import { type Intent, isOutcome, parseFrame } from './records.js';
import type { Segment } from './segment-writer.js';

/** The journal that a dead process left behind. */
export interface DeadEpoch {
  producer: string;
  epoch: string;
  folder: string;
  segments: Segment[];
  lastSeq: number;
  /** Admitted units without an outcome in this epoch. */
  open: Intent[];
  /** Units of still older epochs that this one has closed as crashed. */
  crashed: Set<string>;
  /** Sequence numbers before which something is missing: the watermark cannot pass them by itself. */
  gaps: { from: number; to: number }[];
  /** Segments with bytes that could not be read: set aside instead of deleted. Units still open may have ended there. */
  damaged: Set<string>;
}

/** Reads a dead epoch once, in bounded memory: only open units are kept. Nothing is written. */
export async function scanDeadEpoch(
  at: { disk: Disk; producer: string; epoch: string; folder: string },
  onAlarm: OnAlarm,
): Promise<DeadEpoch> {
  const damaged = new Set<string>();
  const scan = { open: new Map<string, Intent>(), crashed: new Set<string>(), lastSeq: 0 };
  const gaps: DeadEpoch['gaps'] = [];
  const segments: Segment[] = [];
  const window = Buffer.allocUnsafe(WINDOW_BYTES);
  const reader = new EpochReader(at.disk, at.folder, (bad) => {
    damaged.add(bad.path);
    onAlarm({ kind: 'bad_frame', ...bad });
  });
  const note = (json: Buffer): boolean => {
    const frame = parseFrame(json);
    if (frame.kind === 'intent') {
      scan.open.set(frame.intent.unit, frame.intent);
      return true;
    }
    if (frame.kind === 'begin') return true;
    const { seq, unit, isCrash } = frame.head;
    if (unit !== null && isCrash) scan.crashed.add(unit);
    else if (unit !== null) scan.open.delete(unit);
    if (seq > scan.lastSeq + 1) gaps.push({ from: scan.lastSeq + 1, to: seq - 1 });
    scan.lastSeq = Math.max(scan.lastSeq, seq);
    return true;
  };
  try {
    for (const index of segmentsIn(at.disk, at.folder)) {
      // An older segment may be gone because the watermark passed it: that is no gap.
      if (segments.length === 0) scan.lastSeq = await seqBefore(at, index);
      const limit = { segment: index, offset: Number.POSITIVE_INFINITY, seq: 0 };
      while (await reader.read(window, limit, note));
      const path = join(at.folder, segmentName(index));
      segments.push({ index, path, bytes: at.disk.sizeOf(path), lastSeq: scan.lastSeq });
    }
  } finally {
    await reader.close();
  }
  for (const gap of gaps) onAlarm({ kind: 'sequence_gap', producer: at.producer, epoch: at.epoch, ...gap });
  const { lastSeq, crashed } = scan;
  return { ...at, segments, lastSeq, open: [...scan.open.values()], crashed, gaps, damaged };
}

/** The sequence number before the first one that is left; 0 where segment 1 is there. */
async function seqBefore(at: { disk: Disk; folder: string }, first: number): Promise<number> {
  if (first === 1) return 0;
  let seq = 0;
  const window = Buffer.allocUnsafe(WINDOW_BYTES);
  const reader = new EpochReader(at.disk, at.folder, () => undefined);
  const limit = null;
  const take = (json: Buffer): boolean => {
    if (!isOutcome(json)) return true;
    const frame = parseFrame(json);
    if (frame.kind !== 'outcome') return true;
    seq = frame.head.seq;
    return false;
  };
  try {
    while (seq === 0 && (await reader.read(window, limit, take)));
  } finally {
    await reader.close();
  }
  return Math.max(0, seq - 1);
}
