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
const { kafka, clientId } = workerData as ShipperWorkerData;
if (parentPort === null) throw new TypeError('shipper-worker runs as a worker thread only');
const NICE = 10;
// Linux gives each thread a priority; elsewhere the whole process would get this one.
if (process.platform === 'linux') setPriority(NICE);

const clock = new SystemClock();
const producer = new KafkaProducer(kafkaClient({ ...kafka, clientId }), clock);

await serveShipper(parentPort, {
  append: (topic, records) => producer.append(topic, records),
  clock,
  random: new SystemRandom(),
});
await producer.close();
parentPort.close();
