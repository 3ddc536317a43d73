import type { DynamicModule, Type } from '@nestjs/common';
import { Funds, type Clock } from '@gateway/contracts';
import {
  EdgeModule,
  START_SHIPPER,
  type EdgeConfig,
  type EnabledProvider,
  type FrontDoorServices,
  type StartShipper,
} from '@gateway/edge';
import { kafkaAccess, WorkerShipper } from '@gateway/event-log';
import {
  billingAgreement,
  livePrincipals,
  redisAddress,
  RemoteCatalogueModule,
  RemoteContentsModule,
  RemoteFundsModule,
  RemoteProviderKeysModule,
  RemoteResponsesModule,
  RemoteRouteHealthModule,
  RemoteStoredContentModule,
  type FleetSettings,
} from '@gateway/fleet';
import { ObjectStoreModule, type ObjectStoreConfig } from '@gateway/object-store';
import { CLOCK, LOGGER } from '@gateway/platform';
import type { KeyedProvider } from '@gateway/upstream';

export interface EdgeSettings {
  fleet: FleetSettings;
  config: Readonly<EdgeConfig>;
  objects: Readonly<ObjectStoreConfig>;
  providers: ReadonlyMap<string, EnabledProvider>;
  keyed: ReadonlyMap<string, KeyedProvider>;
}

/** The edge with its shipper, and the ports that it asks other services for. */
export function edgeParts({
  fleet,
  config,
  objects,
  providers,
  keyed,
}: EdgeSettings): (DynamicModule | Type<unknown>)[] {
  const edge = EdgeModule.with({ config, providers, keyed, frontDoor: frontDoorOf(config) });
  const ports = [
    ObjectStoreModule.with(objects),
    livePrincipals(redisAddress(fleet)),
    RemoteProviderKeysModule,
    RemoteCatalogueModule,
    RemoteFundsModule,
    RemoteContentsModule,
    RemoteResponsesModule,
    RemoteRouteHealthModule,
    RemoteStoredContentModule,
    billingAgreement(config.BILLING),
  ];
  return [edge, fleetShipper(fleet, config), ...ports];
}

/** Returns the addresses to which the front door passes the paths of other services. */
function frontDoorOf(config: Readonly<EdgeConfig>): FrontDoorServices {
  return {
    keys: config.KEYS_URL,
    catalogue: config.CATALOGUE_URL,
    usage: config.USAGE_URL,
    notifications: config.NOTIFICATIONS_URL,
    workers: config.WORKERS_URL,
  };
}

type Logger = { error(fields: object, message: string): void };

/** The journal goes to Kafka in a thread of its own. */
function fleetShipper(fleet: FleetSettings, config: Readonly<EdgeConfig>): DynamicModule {
  const useFactory =
    (clock: Clock, logger: Logger, funds: Funds): StartShipper =>
    (events) =>
      new WorkerShipper({
        kafka: kafkaAccess(fleet),
        clientId: 'edge-shipper',
        isAwaited: config.JOURNAL_ACK === 'kafka' || config.JOURNAL_ACK_ORGANIZATIONS.length > 0,
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
