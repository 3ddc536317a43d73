import 'reflect-metadata';
import { CatalogueConfig, CatalogueModule } from '@gateway/catalogue';
import { RemotePrincipalsModule, startFleetApp } from '@gateway/fleet';
import { loadConfig, readConfigs, readFleetConfig, runMain, serviceEnvironment } from '@gateway/platform';

await runMain('catalogue', () => {
  const env = serviceEnvironment('catalogue');
  const { fleet, own } = readConfigs({
    fleet: () => readFleetConfig(['KEYS_URL'], env),
    own: () => loadConfig(CatalogueConfig, env),
  });
  return () => startFleetApp('catalogue', fleet, [CatalogueModule.with(own), RemotePrincipalsModule]);
});
