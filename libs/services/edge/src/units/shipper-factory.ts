import type { ShipperEvents, ShipperHandle } from '@gateway/journal';

/** Starts what takes the journal to the event log: in a worker thread before Kafka, beside the rest in one process. */
export abstract class ShipperFactory {
  abstract start(events: ShipperEvents): ShipperHandle;
}
