import { loadConfig } from '@gateway/platform';
import { gatewayConfigFault } from '@gateway/upstream';
import { CatalogueConfig } from './catalogue.config.js';
import { gatewayConfigOf } from './own/own.config.js';
import { withOwn } from './own/with-own.js';
import { readSeed } from './seed/read-seed.js';

/** The settings, with the file of GATEWAY_CONFIG put over the seed as the start does it. Throws ConfigError. */
export function readCatalogueConfig(
  env: Readonly<Record<string, string | undefined>>,
): Readonly<CatalogueConfig> {
  const config = loadConfig(CatalogueConfig, env);
  try {
    const own = gatewayConfigOf(config);
    if (own !== null) withOwn(readSeed({ simulated: config.SIMULATED_PROVIDER }), own);
  } catch (failure) {
    throw gatewayConfigFault(failure);
  }
  return config;
}
