export { unitScopes } from './admission.js';
export { admitRequest, LEASE_MS, RENEW_MS } from './admit-request.js';
export type { AdmitModel, Reservation } from './admit-request.js';
export { InProcessLimitStore } from './in-process/in-process-limit-store.js';
export type { SeedCounts } from './in-process/in-process-limit-store.js';
export {
  CEILINGS,
  ceilingFaults,
  effectiveLimits,
  FREE_MODELS,
  KEY_DEFAULTS,
  keyScopeLimits,
} from './limit-rules.js';
export type { BindingScope, EffectiveLimits, LimitTier } from './limit-rules.js';
export { PutQueue } from './put-queue.js';
export type { PutQueueOptions } from './put-queue.js';
export { durationText, limitReadings, rateHeaders } from './rate-headers.js';
export type { Admitted, ScopeReading } from './rate-headers.js';
export { LocalShare } from './in-process/local-share.js';
export { RedisLimitStore } from './redis/redis-limit-store.js';
export type { RedisLimitStoreOptions } from './redis/redis-limit-store.js';
export { bytesOf } from './redis/script-pipe.js';
export type { Answered, LimitScript, PreparedScript, ScriptPipe } from './redis/script-pipe.js';
export { refusalError } from './refusal-error.js';
