import 'reflect-metadata';
import { CatalogueModule, readCatalogueConfig } from '@gateway/catalogue';
import { RemotePrincipalsModule, startFleetApp, readFleetSettings } from '@gateway/fleet';
import { readConfigs, runMain, serviceEnvironment } from '@gateway/platform';

await runMain('catalogue', () => {
  const env = serviceEnvironment('catalogue');
  const { fleet, own } = readConfigs({
    fleet: () => readFleetSettings(['KEYS_URL'], env),
    own: () => readCatalogueConfig(env),
  });
  return () => startFleetApp('catalogue', fleet, [CatalogueModule.with(own), RemotePrincipalsModule]);
});
