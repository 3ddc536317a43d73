import type { DynamicModule } from '@nestjs/common';
import { Funds, type Clock } from '@gateway/contracts';
import { START_SHIPPER, type StartShipper } from '@gateway/edge';
import { kafkaAccess, WorkerShipper } from '@gateway/event-log';
import type { FleetSettings } from '@gateway/fleet';
import { CLOCK, LOGGER } from '@gateway/platform';

type Logger = { error(fields: object, message: string): void };

/** The journal goes to Kafka in a thread of its own. */
export function fleetShipper(fleet: FleetSettings): DynamicModule {
  const useFactory =
    (clock: Clock, logger: Logger, funds: Funds): StartShipper =>
    (events) =>
      new WorkerShipper({
        kafka: kafkaAccess(fleet),
        clientId: 'edge-shipper',
        clock,
        watermark: (producer, epoch) => funds.watermark(producer, epoch),
        events,
        onFault: (error) => logger.error({ err: error }, 'the shipper of the journal failed'),
      });
  return {
    module: class FleetShipperModule {},
    global: true,
    providers: [{ provide: START_SHIPPER, useFactory, inject: [CLOCK, LOGGER, Funds] }],
    exports: [START_SHIPPER],
  };
}
