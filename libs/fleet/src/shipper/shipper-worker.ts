// First, because it gives class-validator's decorators what they ask for at import.
import 'reflect-metadata';
import { parentPort, workerData } from 'node:worker_threads';
import { serveShipper } from '@gateway/journal';
import { InternalHttp, SystemClock, SystemRandom } from '@gateway/platform';
import { HttpFunds } from '../remote/http-funds.js';
import { KafkaEventLog } from '@gateway/event-log';
import type { ShipperWorkerData } from './worker-shipper.js';

/** Entry of the worker thread that takes the journal to Kafka; connections of its own, ended with `stop`. */
const { brokers, clientId, fleetToken, usageUrl } = workerData as ShipperWorkerData;
if (parentPort === null) throw new TypeError('shipper-worker runs as a worker thread only');

const clock = new SystemClock();
const random = new SystemRandom();
const log = new KafkaEventLog({ brokers: [...brokers], clientId, clock, random });
const http = new InternalHttp({ clock, random, fleetToken, services: { usage: usageUrl } });
const funds = new HttpFunds(http, random);

await serveShipper(parentPort, {
  append: (topic, records) => log.append(topic, records),
  watermark: (producer, epoch) => funds.watermark(producer, epoch),
  clock,
  random,
});
await log.close();
await http.close();
parentPort.close();
