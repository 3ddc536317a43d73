import { Inject, Injectable, Module, type DynamicModule } from '@nestjs/common';
import { Funds, type Clock } from '@gateway/contracts';
import { ShipperFactory } from '@gateway/edge';
import { WorkerShipper } from '@gateway/event-log';
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
    private readonly funds: Funds,
  ) {
    super();
  }

  override start(events: Events): ReturnType<ShipperFactory['start']> {
    return new WorkerShipper({
      brokers: [...this.fleet.KAFKA_BROKERS],
      clientId: 'edge-shipper',
      clock: this.clock,
      watermark: (producer, epoch) => this.funds.watermark(producer, epoch),
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
