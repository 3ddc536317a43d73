import { Inject, Injectable, Module, type DynamicModule } from '@nestjs/common';
import type { Clock } from '@gateway/contracts';
import { ShipperFactory } from '@gateway/edge';
import { WorkerShipper } from '@gateway/fleet';
import { CLOCK, LOGGER, type FleetConfig } from '@gateway/platform';

const FLEET = Symbol('FleetConfig');
type Logger = { error(fields: object, message: string): void };
type Events = Parameters<ShipperFactory['start']>[0];

/** The journal goes to Kafka in a thread of its own. */
@Injectable()
class FleetShippers extends ShipperFactory {
  constructor(
    @Inject(FLEET) private readonly fleet: Readonly<FleetConfig>,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    super();
  }

  override start(events: Events): ReturnType<ShipperFactory['start']> {
    const { KAFKA_BROKERS, FLEET_TOKEN, USAGE_URL = '' } = this.fleet;
    return new WorkerShipper({
      brokers: [...KAFKA_BROKERS],
      clientId: 'edge-shipper',
      fleetToken: FLEET_TOKEN,
      usageUrl: USAGE_URL,
      clock: this.clock,
      events,
      onFault: (error) => this.logger.error({ err: error }, 'the shipper of the journal failed'),
    });
  }
}

@Module({})
export class FleetShipperModule {
  static with(fleet: Readonly<FleetConfig>): DynamicModule {
    return {
      module: FleetShipperModule,
      global: true,
      providers: [
        { provide: FLEET, useValue: fleet },
        { provide: ShipperFactory, useClass: FleetShippers },
      ],
      exports: [ShipperFactory],
    };
  }
}
