import 'reflect-metadata';
import { WorkersConfig, WorkersModule } from '@gateway/workers';
import { RemotePrincipalsModule, startFleetApp, readFleetSettings } from '@gateway/fleet';
import { loadConfig, readConfigs, runMain, serviceEnvironment } from '@gateway/platform';

await runMain('workers', () => {
  const env = serviceEnvironment('workers');
  const { fleet, own } = readConfigs({
    fleet: () => readFleetSettings(['KEYS_URL'], env),
    own: () => loadConfig(WorkersConfig, env),
  });
  return () => startFleetApp('workers', fleet, [WorkersModule.with(own), RemotePrincipalsModule]);
});
