import 'reflect-metadata';
import { NotificationsConfig, NotificationsModule } from '@gateway/notifications';
import { RemotePrincipalsModule, startFleetApp } from '@gateway/fleet';
import { loadConfig, readConfigs, readFleetConfig, runMain, serviceEnvironment } from '@gateway/platform';

await runMain('notifications', () => {
  const env = serviceEnvironment();
  const { fleet, own } = readConfigs({
    fleet: () => readFleetConfig(['KEYS_URL'], env),
    own: () => loadConfig(NotificationsConfig, env),
  });
  return () => startFleetApp('notifications', fleet, [NotificationsModule.with(own), RemotePrincipalsModule]);
});
