export type { JournalAlarm, OnAlarm } from './alarm.js';
export { nodeDisk } from './disk.js';
export type { Disk } from './disk.js';
export { decodeFrames, encodeFrame, FRAME_HEADER_BYTES, MAX_FRAME_BYTES } from './frame.js';
export type { FrameEnd } from './frame.js';
export { Journal, JournalOwnedError } from './journal.js';
export type { JournalStats, Receipt, Recovery } from './journal.js';
export type { JournalOptions } from './journal-options.js';
export { parseFrame, unitOf } from './records.js';
export type {
  CrashRecord,
  Intent,
  IntentFacts,
  JournalFrame,
  JournalTopic,
  OutcomeValues,
  SettleFacts,
  SyncedOutcome,
  UsageRest,
} from './records.js';
export type { Position } from './segment-writer.js';
export { Shipper } from './shipper.js';
export type { ShipperOptions } from './shipper.js';
export type { ShipperEvents, ShipperHandle, ShipperStats, ShipSource } from './shipper-handle.js';
export { serveShipper, ShipperThread } from './shipper-thread.js';
