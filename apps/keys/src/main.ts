import 'reflect-metadata';
import { KeysModule, readKeysConfig } from '@gateway/keys';
import { MailConfig, MailModule } from '@gateway/mail';
import {
  RemoteCatalogueNamesModule,
  RemoteFundsModule,
  startFleetApp,
  readFleetSettings,
} from '@gateway/fleet';
import { loadConfig, readConfigs, runMain, serviceEnvironment } from '@gateway/platform';
import { keyedProviders } from '@gateway/upstream';
import { announceFirstRun } from './announce-first-run.js';

await runMain('keys', () => {
  const env = serviceEnvironment('keys');
  const { fleet, own, mail, keyed } = readConfigs({
    fleet: () => readFleetSettings(['USAGE_URL', 'CATALOGUE_URL'], env),
    own: () => readKeysConfig(env),
    mail: () => loadConfig(MailConfig, env),
    keyed: () => keyedProviders(env),
  });
  return async () => {
    const services = [MailModule.with(mail), KeysModule.with(own, keyed)];
    const neighbours = [RemoteFundsModule, RemoteCatalogueNamesModule];
    const running = await startFleetApp('keys', fleet, [...services, ...neighbours]);
    await announceFirstRun(running.app);
    return running;
  };
});
