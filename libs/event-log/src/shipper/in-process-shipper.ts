import type { Clock, EventLog, Funds, Random } from '@gateway/contracts';
import { Shipper, type ShipperEvents, type ShipperHandle } from '@gateway/journal';

/** The shipper beside everything else, for one process whose event log is in memory. */
export function startInProcessShipper(parts: {
  eventLog: EventLog;
  funds: Funds;
  clock: Clock;
  random: Random;
  events: ShipperEvents;
}): ShipperHandle {
  const { eventLog, funds, clock, random, events } = parts;
  const shipper = new Shipper({
    append: (topic, records) => eventLog.append(topic, records),
    kept: (topic) => eventLog.kept(topic) ?? Promise.resolve(),
    watermark: (producer, epoch) => funds.watermark(producer, epoch),
    clock,
    random,
    events,
  });
  shipper.start();
  return shipper;
}
