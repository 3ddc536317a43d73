import 'reflect-metadata';
import { NotificationsConfig, NotificationsModule } from '@gateway/notifications';
import {
  loadConfig,
  readConfigs,
  readFleetConfig,
  RemotePrincipalsModule,
  runMain,
  serviceEnvironment,
  startFleetApp,
} from '@gateway/platform';

await runMain('notifications', () => {
  const env = serviceEnvironment();
  const { fleet, own } = readConfigs({
    fleet: () => readFleetConfig(['KEYS_URL'], env),
    own: () => loadConfig(NotificationsConfig, env),
  });
  return () => startFleetApp('notifications', fleet, [NotificationsModule.with(own), RemotePrincipalsModule]);
});
