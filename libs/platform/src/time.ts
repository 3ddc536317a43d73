/**
 * `@gateway/platform/time`: clock and randomness for a thread that needs nothing else of the platform. The whole of it
 * brings Nest, Fastify and class-validator, 60 MiB that the shipper's thread would hold beside the edge's own.
 */
export { SystemClock, SystemRandom } from './time/system.js';
