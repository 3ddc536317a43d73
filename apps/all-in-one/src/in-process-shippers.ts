import type { DynamicModule } from '@nestjs/common';
import { EventLog, Funds, type Clock, type Random } from '@gateway/contracts';
import { START_SHIPPER, type StartShipper } from '@gateway/edge';
import { startInProcessShipper } from '@gateway/event-log';
import { CLOCK, RANDOM } from '@gateway/platform';

const useFactory =
  (eventLog: EventLog, funds: Funds, clock: Clock, random: Random): StartShipper =>
  (events) =>
    startInProcessShipper({ eventLog, funds, clock, random, events });

/** The journal goes to the event log in memory, and behind the ledger's watermark its segments go. */
export const InProcessShipperModule: DynamicModule = {
  module: class InProcessShippers {},
  global: true,
  providers: [{ provide: START_SHIPPER, useFactory, inject: [EventLog, Funds, CLOCK, RANDOM] }],
  exports: [START_SHIPPER],
};
