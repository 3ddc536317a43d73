import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { serveShipper } from '@gateway/journal';
import { SystemClock, SystemRandom } from '@gateway/platform/time';
// First of those that load kafkajs.
import '../kafka-checksum.js';
import { kafkaClient } from '../kafka-client.js';
import { KafkaProducer } from '../kafka-producer.js';
import type { ShipperWorkerData } from './worker-shipper.js';

/**
 * Entry of the worker thread that takes the journal to Kafka over a connection of its own, ended with `stop`. It imports
 * nothing but that: all that it loads the process has twice.
 */
const { kafka, clientId, isAwaited = false } = workerData as ShipperWorkerData;
if (parentPort === null) throw new TypeError('shipper-worker runs as a worker thread only');
const NICE = 10;
// Linux gives each thread a priority; elsewhere the whole process would get this one.
if (process.platform === 'linux' && !isAwaited) setPriority(NICE);

/**
 * Memory that is never touched, so the system gives none of it. V8 collects a small heap whenever its buffers have grown
 * by a part of it. With hardly 10 MiB alive and some MiB of records a second, that was four times a second. Each took
 * V8's helper threads: 30 µs of processor a request. Beside 64 MiB it is once in eight seconds. Exported, or it would be
 * collected.
 */
export const ballast = Buffer.allocUnsafeSlow(64 * 1024 * 1024);

const clock = new SystemClock();
const producer = new KafkaProducer(kafkaClient({ ...kafka, clientId }), clock);

await serveShipper(parentPort, {
  append: (topic, records) => producer.append(topic, records),
  clock,
  random: new SystemRandom(),
});
await producer.close();
parentPort.close();
