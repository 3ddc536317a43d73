import type { DynamicModule, Type } from '@nestjs/common';
import { EdgeModule, type EdgeConfig, type EnabledProvider } from '@gateway/edge';
import {
  RemoteCatalogueModule,
  RemoteContentsModule,
  RemoteErasuresModule,
  RemoteFundsModule,
  RemotePrincipalsModule,
  RemoteProviderKeysModule,
  RemoteResponsesModule,
  RemoteRouteHealthModule,
  RemoteStoredContentModule,
  type FleetSettings,
} from '@gateway/fleet';
import { ObjectStoreModule, type ObjectStoreConfig } from '@gateway/object-store';
import type { KeyedProvider } from '@gateway/upstream';
import { frontDoorOf } from './front-door-of.js';
import { fleetShipper } from './fleet-shipper.js';

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
    RemotePrincipalsModule,
    RemoteProviderKeysModule,
    RemoteCatalogueModule,
    RemoteFundsModule,
    RemoteErasuresModule,
    RemoteContentsModule,
    RemoteResponsesModule,
    RemoteRouteHealthModule,
    RemoteStoredContentModule,
  ];
  return [edge, fleetShipper(fleet), ...ports];
}
