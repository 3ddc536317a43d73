import 'reflect-metadata';
import { enabledProviders, readEdgeConfig } from '@gateway/edge';
import { startFleetApp, readFleetSettings } from '@gateway/fleet';
import { ObjectStoreConfig } from '@gateway/object-store';
import { loadConfig, readConfigs, runMain, serviceEnvironment } from '@gateway/platform';
import { providerAddresses } from '@gateway/upstream';
import { EdgeLimitsConfig, edgeLimits } from './edge-limits.js';
import { edgeParts } from './edge-parts.js';

await runMain('edge', () => {
  const env = serviceEnvironment();
  const settings = readConfigs({
    fleet: () => readFleetSettings(['KEYS_URL', 'CATALOGUE_URL', 'USAGE_URL', 'WORKERS_URL'], env),
    config: () => readEdgeConfig(env),
    limits: () => loadConfig(EdgeLimitsConfig, env),
    objects: () => loadConfig(ObjectStoreConfig, env),
    providers: () => enabledProviders(env),
    addresses: () => providerAddresses(env),
  });
  const { fleet, limits } = settings;
  return () => startFleetApp('edge', fleet, edgeParts(settings), edgeLimits(limits));
});
