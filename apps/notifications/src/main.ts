import 'reflect-metadata';
import { NotificationsModule, readNotificationsConfig } from '@gateway/notifications';
import { MailConfig, MailModule } from '@gateway/mail';
import {
  readFleetSettings,
  RemoteDirectoryModule,
  RemotePrincipalsModule,
  startFleetApp,
} from '@gateway/fleet';
import { loadConfig, readConfigs, runMain, serviceEnvironment } from '@gateway/platform';

await runMain('notifications', () => {
  const env = serviceEnvironment('notifications');
  const { fleet, own, mail } = readConfigs({
    fleet: () => readFleetSettings(['KEYS_URL'], env),
    own: () => readNotificationsConfig(env),
    mail: () => loadConfig(MailConfig, env),
  });
  const outside = [MailModule.with(mail), RemotePrincipalsModule, RemoteDirectoryModule];
  const modules = [NotificationsModule.with(own), ...outside];
  return () => startFleetApp('notifications', fleet, modules);
});
