import { KeysConfig, KeysModule } from '@gateway/keys';
import {
  loadConfig,
  readConfigs,
  readFleetConfig,
  RemoteFundsModule,
  runMain,
  serviceEnvironment,
  startFleetApp,
} from '@gateway/platform';

await runMain('keys', () => {
  const env = serviceEnvironment('keys');
  const { fleet, own } = readConfigs({
    fleet: () => readFleetConfig(['USAGE_URL'], env),
    own: () => loadConfig(KeysConfig, env),
  });
  return () => startFleetApp('keys', fleet, [KeysModule.with(own), RemoteFundsModule]);
});
