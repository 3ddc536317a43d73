import 'reflect-metadata';
import { WorkersConfig, WorkersModule } from '@gateway/workers';
import { RemotePrincipalsModule, startFleetApp } from '@gateway/fleet';
import { loadConfig, readConfigs, readFleetConfig, runMain, serviceEnvironment } from '@gateway/platform';

await runMain('workers', () => {
  const env = serviceEnvironment();
  const { fleet, own } = readConfigs({
    fleet: () => readFleetConfig(['KEYS_URL'], env),
    own: () => loadConfig(WorkersConfig, env),
  });
  return () => startFleetApp('workers', fleet, [WorkersModule.with(own), RemotePrincipalsModule]);
});
