import 'reflect-metadata';
import {
  RemoteCatalogueModule,
  RemoteDirectoryModule,
  RemoteResponsesModule,
  RemotePrincipalsModule,
  startFleetApp,
  readFleetSettings,
} from '@gateway/fleet';
import { readConfigs, runMain, serviceEnvironment } from '@gateway/platform';
import { withBilling } from '@gateway/upstream';
import { readUsageConfig, UsageModule } from '@gateway/usage';

await runMain('usage', () => {
  const env = serviceEnvironment('usage');
  const { fleet, own } = readConfigs({
    fleet: () => readFleetSettings(['KEYS_URL', 'CATALOGUE_URL', 'WORKERS_URL'], env),
    own: () => readUsageConfig(withBilling(env)),
  });
  const neighbours = [
    RemotePrincipalsModule,
    RemoteCatalogueModule,
    RemoteDirectoryModule,
    RemoteResponsesModule,
  ];
  return () => startFleetApp('usage', fleet, [UsageModule.with(own), ...neighbours]);
});
