import 'reflect-metadata';
import { setFlagsFromString } from 'node:v8';
import { EdgeConfig, enabledProviders } from '@gateway/edge';
import { startFleetApp, readFleetSettings } from '@gateway/fleet';
import { loadConfig, readConfigs, runMain, serviceEnvironment } from '@gateway/platform';
import { edgeLimits } from './edge-limits.js';
import { edgeParts } from './edge-parts.js';

// On few processors one thread collects more cheaply than four, and a heap need not grow to five times of what lives.
setFlagsFromString('--no-parallel-scavenge');
setFlagsFromString('--heap-growing-percent=100');

await runMain('edge', () => {
  const env = serviceEnvironment();
  const settings = readConfigs({
    fleet: () => readFleetSettings(['KEYS_URL', 'CATALOGUE_URL', 'USAGE_URL'], env),
    config: () => loadConfig(EdgeConfig, env),
    providers: () => enabledProviders(env),
  });
  const { fleet, config } = settings;
  return () => startFleetApp('edge', fleet, edgeParts(settings), edgeLimits(config));
});
