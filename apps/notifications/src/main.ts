import 'reflect-metadata';
import { NotificationsModule } from '@gateway/notifications';
import { RemotePrincipalsModule, startFleetApp } from '@gateway/fleet';
import { readFleetConfig, runMain, serviceEnvironment } from '@gateway/platform';

await runMain('notifications', () => {
  const fleet = readFleetConfig(['KEYS_URL'], serviceEnvironment());
  return () => startFleetApp('notifications', fleet, [NotificationsModule, RemotePrincipalsModule]);
});
