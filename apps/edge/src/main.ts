import 'reflect-metadata';
import { setFlagsFromString } from 'node:v8';
import { EdgeConfig, enabledProviders } from '@gateway/edge';
import {
  loadConfig,
  readConfigs,
  readFleetConfig,
  runMain,
  serviceEnvironment,
  startFleetApp,
} from '@gateway/platform';
import { edgeLimits } from './edge-limits.js';
import { edgeParts } from './edge-parts.js';
import { primaryOf } from './edge-workers.js';

// A collection of the young generation by four threads at once costs a busy machine twice what one thread takes.
setFlagsFromString('--no-parallel-scavenge');
// V8 lets the heap grow to five times of what lives, where the machine has memory; a collection each half minute is cheap.
setFlagsFromString('--heap-growing-percent=100');

await runMain('edge', () => {
  const env = serviceEnvironment();
  const settings = readConfigs({
    fleet: () => readFleetConfig(['KEYS_URL', 'CATALOGUE_URL', 'USAGE_URL'], env),
    config: () => loadConfig(EdgeConfig, env),
    providers: () => enabledProviders(env),
  });
  const { fleet, config } = settings;
  const start = () => startFleetApp('edge', fleet, edgeParts(settings), edgeLimits(config));
  return primaryOf(config, fleet) ?? start;
});
