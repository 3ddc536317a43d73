/** Alarms that an operator has to see. Plain values, so that a worker thread can send them. */
export type JournalAlarm =
  /** Bytes of a segment that hold no frame and were skipped. The segment is stored aside, the rest of it ships. */
  | { kind: 'bad_frame'; path: string; offset: number; lostBytes: number }
  /** Sequence numbers `from` to `to` are in no readable frame of this epoch. */
  | { kind: 'sequence_gap'; producer: string; epoch: string; from: number; to: number }
  /** The disk refused bytes: they are kept in memory and written again; no new unit is accepted. */
  | { kind: 'write_failed'; code: string; message: string }
  /** The disk refused to sync: everything unsynced is written again to a new segment. */
  | { kind: 'sync_failed'; code: string; message: string }
  /** 90 % of the budget is used: no new unit is accepted until segments can be deleted. */
  | { kind: 'full'; usedBytes: number; budgetBytes: number }
  /** A segment behind the watermark could not be removed. */
  | { kind: 'delete_failed'; path: string; message: string }
  /** Units of a process that died: each is closed as `gateway_crash`. */
  | { kind: 'crashed_units'; producer: string; epoch: string; count: number }
  /** The event log refused a batch; it is tried again for ever. */
  | { kind: 'append_failed'; topic: string; attempt: number; message: string }
  /** The watermark stays behind what was shipped: a record was lost, so everything after it is shipped again. */
  | { kind: 'watermark_stalled'; producer: string; epoch: string; watermark: number; shipped: number }
  /** A segment could not be read while shipping; tried again. */
  | { kind: 'read_failed'; producer: string; epoch: string; message: string };

export type OnAlarm = (alarm: JournalAlarm) => void;

/** Code and message of whatever was thrown. By its shape: an error may come from another realm. */
export function faultOf(error: unknown): { code: string; message: string } {
  if (typeof error !== 'object' || error === null) return { code: 'UNKNOWN', message: String(error) };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : 'UNKNOWN';
  const message = 'message' in error && typeof error.message === 'string' ? error.message : 'no message';
  return { code, message };
}
