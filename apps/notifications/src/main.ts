import 'reflect-metadata';
import { NotificationsModule } from '@gateway/notifications';
import { RemotePrincipalsModule, startFleetApp, readFleetSettings } from '@gateway/fleet';
import { runMain, serviceEnvironment } from '@gateway/platform';

await runMain('notifications', () => {
  const fleet = readFleetSettings(['KEYS_URL'], serviceEnvironment());
  return () => startFleetApp('notifications', fleet, [NotificationsModule, RemotePrincipalsModule]);
});
