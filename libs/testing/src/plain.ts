/**
 * `@gateway/testing/plain`: what a spec without servers needs. The whole of the lib brings Nest, Kafka's client and the
 * simulator, a second of processor time that each such spec would pay.
 */
export { catalogueModel } from './builders/catalogue.js';
export { keyPrincipal, scopeLimits, sessionPrincipal } from './builders/principals.js';
export { compactRecord, usageRecord } from './builders/usage-records.js';
export { eventually } from './eventually.js';
export { FixedClock, fixedClock } from './fixed-clock.js';
export { goldenLines } from './golden-lines.js';
export { repository } from './fleet/repository.js';
export { seededRandom } from './seeded-random.js';
