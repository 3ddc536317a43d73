export type { JournalAlarm } from './alarm.js';
export { encodeFrame, readSegment } from './frame.js';
export { Journal } from './journal.js';
export { parseFrame } from './records.js';
export type {
  CrashRecord,
  Intent,
  IntentFacts,
  OutcomeValues,
  ProviderSettle,
  SettleFacts,
  SyncedOutcome,
  UsageRest,
} from './records.js';
export type { Position } from './segment-writer.js';
export { Shipper } from './shipper.js';
export type { ShipperEvents, ShipperHandle, ShipperStats, ShipSource } from './shipper-handle.js';
export { serveShipper, ShipperThread } from './shipper-thread.js';
