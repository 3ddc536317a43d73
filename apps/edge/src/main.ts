import 'reflect-metadata';
import { EdgeConfig, EdgeModule, enabledProviders } from '@gateway/edge';
import {
  loadConfig,
  readConfigs,
  readFleetConfig,
  RemoteCatalogueModule,
  RemoteFundsModule,
  RemotePrincipalsModule,
  runMain,
  serviceEnvironment,
  startFleetApp,
} from '@gateway/platform';
import { edgeLimits } from './edge-limits.js';
import { frontDoorOf } from './front-door-of.js';
import { FleetShipperModule } from './fleet-shipper.js';

await runMain('edge', () => {
  const env = serviceEnvironment();
  const { fleet, config, providers } = readConfigs({
    fleet: () => readFleetConfig(['KEYS_URL', 'CATALOGUE_URL', 'USAGE_URL'], env),
    config: () => loadConfig(EdgeConfig, env),
    providers: () => enabledProviders(env),
  });
  const edge = EdgeModule.with({ config, providers, frontDoor: frontDoorOf(config) });
  const neighbours = [RemotePrincipalsModule, RemoteCatalogueModule, RemoteFundsModule];
  return () =>
    startFleetApp('edge', fleet, [edge, FleetShipperModule.with(fleet), ...neighbours], edgeLimits(config));
});
