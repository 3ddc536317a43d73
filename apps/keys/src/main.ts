import 'reflect-metadata';
import { KeysModule, readKeysConfig } from '@gateway/keys';
import { MailConfig, MailModule } from '@gateway/mail';
import { RemoteFundsModule, startFleetApp, readFleetSettings } from '@gateway/fleet';
import { loadConfig, readConfigs, runMain, serviceEnvironment } from '@gateway/platform';
import { providerAddresses } from '@gateway/upstream';
import { announceFirstRun } from './announce-first-run.js';

await runMain('keys', () => {
  const env = serviceEnvironment('keys');
  const { fleet, own, mail, addresses } = readConfigs({
    fleet: () => readFleetSettings(['USAGE_URL'], env),
    own: () => readKeysConfig(env),
    mail: () => loadConfig(MailConfig, env),
    addresses: () => providerAddresses(env),
  });
  return async () => {
    const running = await startFleetApp('keys', fleet, [
      MailModule.with(mail),
      KeysModule.with(own, addresses),
      RemoteFundsModule,
    ]);
    await announceFirstRun(running.app);
    return running;
  };
});
