import 'reflect-metadata';
import { CatalogueConfig, CatalogueModule } from '@gateway/catalogue';
import { RemotePrincipalsModule, startFleetApp, readFleetSettings } from '@gateway/fleet';
import { loadConfig, readConfigs, runMain, serviceEnvironment } from '@gateway/platform';

await runMain('catalogue', () => {
  const env = serviceEnvironment('catalogue');
  const { fleet, own } = readConfigs({
    fleet: () => readFleetSettings(['KEYS_URL'], env),
    own: () => loadConfig(CatalogueConfig, env),
  });
  return () => startFleetApp('catalogue', fleet, [CatalogueModule.with(own), RemotePrincipalsModule]);
});
