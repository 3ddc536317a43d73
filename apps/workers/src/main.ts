import 'reflect-metadata';
import { WorkersModule } from '@gateway/workers';
import { RemotePrincipalsModule, startFleetApp } from '@gateway/fleet';
import { readFleetConfig, runMain, serviceEnvironment } from '@gateway/platform';

await runMain('workers', () => {
  const fleet = readFleetConfig(['KEYS_URL'], serviceEnvironment());
  return () => startFleetApp('workers', fleet, [WorkersModule, RemotePrincipalsModule]);
});
