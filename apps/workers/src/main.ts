import 'reflect-metadata';
import { WorkersModule } from '@gateway/workers';
import { RemotePrincipalsModule, startFleetApp, readFleetSettings } from '@gateway/fleet';
import { runMain, serviceEnvironment } from '@gateway/platform';

await runMain('workers', () => {
  const fleet = readFleetSettings(['KEYS_URL'], serviceEnvironment());
  return () => startFleetApp('workers', fleet, [WorkersModule, RemotePrincipalsModule]);
});
