import 'reflect-metadata';
import { EdgeConfig, enabledProviders } from '@gateway/edge';
import { startFleetApp, readFleetSettings } from '@gateway/fleet';
import { ObjectStoreConfig } from '@gateway/object-store';
import { loadConfig, readConfigs, readTls, runMain, serviceEnvironment } from '@gateway/platform';
import { keyedProviders, withBilling } from '@gateway/upstream';
import { EdgeLimitsConfig, edgeLimits } from './edge-limits.js';
import { edgeParts } from './edge-parts.js';

await runMain('edge', () => {
  const env = serviceEnvironment();
  const settings = readConfigs({
    fleet: () => readFleetSettings(['KEYS_URL', 'CATALOGUE_URL', 'USAGE_URL', 'WORKERS_URL'], env),
    config: () => loadConfig(EdgeConfig, withBilling(env)),
    limits: () => loadConfig(EdgeLimitsConfig, env),
    tls: () => readTls(env),
    objects: () => loadConfig(ObjectStoreConfig, env),
    providers: () => enabledProviders(env),
    keyed: () => keyedProviders(env),
  });
  const { fleet, limits, tls } = settings;
  return () => startFleetApp('edge', fleet, edgeParts(settings), { limits: edgeLimits(limits), tls });
});
