import 'reflect-metadata';
import { EdgeConfig, enabledProviders } from '@gateway/edge';
import { startFleetApp, readFleetSettings } from '@gateway/fleet';
import { loadConfig, readConfigs, runMain, serviceEnvironment } from '@gateway/platform';
import { edgeLimits } from './edge-limits.js';
import { edgeParts } from './edge-parts.js';

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
