import { Inject, Injectable, Module } from '@nestjs/common';
import { EventLog, Funds, type Clock, type Random } from '@gateway/contracts';
import { ShipperFactory } from '@gateway/edge';
import { startInProcessShipper } from '@gateway/event-log';
import { CLOCK, RANDOM } from '@gateway/platform';

/** The journal goes to the event log in memory, and behind the ledger's watermark its segments go. */
@Injectable()
class InProcessShippers extends ShipperFactory {
  constructor(
    private readonly eventLog: EventLog,
    private readonly funds: Funds,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {
    super();
  }

  override start(events: Parameters<ShipperFactory['start']>[0]): ReturnType<ShipperFactory['start']> {
    const { eventLog, funds, clock, random } = this;
    return startInProcessShipper({ eventLog, funds, clock, random, events });
  }
}

@Module({
  providers: [{ provide: ShipperFactory, useClass: InProcessShippers }],
  exports: [ShipperFactory],
})
class Shippers {}
export const InProcessShipperModule = { module: Shippers, global: true };
