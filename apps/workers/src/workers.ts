import 'reflect-metadata';
import { WorkersConfig, WorkersModule } from '@gateway/workers';
import { ObjectStoreConfig, ObjectStoreModule } from '@gateway/object-store';
import {
  RemoteInferenceModule,
  RemotePrincipalsModule,
  startFleetApp,
  readFleetSettings,
} from '@gateway/fleet';
import { loadConfig, readConfigs, runMain, serviceEnvironment } from '@gateway/platform';

await runMain('workers', () => {
  const env = serviceEnvironment('workers');
  const { fleet, own, objects } = readConfigs({
    fleet: () => readFleetSettings(['KEYS_URL', 'EDGE_URL'], env),
    own: () => loadConfig(WorkersConfig, env),
    objects: () => loadConfig(ObjectStoreConfig, env),
  });
  return () =>
    startFleetApp('workers', fleet, [
      ObjectStoreModule.with(objects),
      WorkersModule.with(own),
      RemotePrincipalsModule,
      RemoteInferenceModule,
    ]);
});
