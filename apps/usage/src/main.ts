import 'reflect-metadata';
import { RemoteCatalogueModule, RemotePrincipalsModule, startFleetApp } from '@gateway/fleet';
import { loadConfig, readConfigs, readFleetConfig, runMain, serviceEnvironment } from '@gateway/platform';
import { UsageConfig, UsageModule } from '@gateway/usage';

await runMain('usage', () => {
  const env = serviceEnvironment('usage');
  const { fleet, own } = readConfigs({
    fleet: () => readFleetConfig(['KEYS_URL', 'CATALOGUE_URL'], env),
    own: () => loadConfig(UsageConfig, env),
  });
  const neighbours = [RemotePrincipalsModule, RemoteCatalogueModule];
  return () => startFleetApp('usage', fleet, [UsageModule.with(own), ...neighbours]);
});
