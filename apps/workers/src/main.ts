import 'reflect-metadata';
import { WorkersConfig, WorkersModule } from '@gateway/workers';
import {
  loadConfig,
  readConfigs,
  readFleetConfig,
  RemotePrincipalsModule,
  runMain,
  serviceEnvironment,
  startFleetApp,
} from '@gateway/platform';

await runMain('workers', () => {
  const env = serviceEnvironment();
  const { fleet, own } = readConfigs({
    fleet: () => readFleetConfig(['KEYS_URL'], env),
    own: () => loadConfig(WorkersConfig, env),
  });
  return () => startFleetApp('workers', fleet, [WorkersModule.with(own), RemotePrincipalsModule]);
});
