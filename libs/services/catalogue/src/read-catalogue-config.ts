import { loadConfig, readConfigs } from '@gateway/platform';
import { NO_GATEWAY_CONFIG, type GatewayConfig } from '@gateway/providers';
import { gatewayConfigFault } from '@gateway/upstream';
import { CatalogueConfig, OwnConfig } from './catalogue.config.js';
import { discoverable, gatewayConfigOf } from './own/own.config.js';
import { withOwn } from './own/with-own.js';
import { readSeed } from './seed/read-seed.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** The settings, with what they name looked at as the start does it. Throws ConfigError. */
export function readCatalogueConfig(env: Environment): Readonly<CatalogueConfig> {
  const { config } = readConfigs({
    config: () => loadConfig(CatalogueConfig, env),
    // By itself, so that another setting's fault hides none of the file.
    own: () => {
      const own = loadConfig(OwnConfig, env);
      // A credential that cannot be read is a fault, too.
      discoverable(own, fileOf(own), env);
    },
  });
  return config;
}

/** Returns the content of GATEWAY_CONFIG's file; it fits the data of the release. */
function fileOf(config: Readonly<OwnConfig>): GatewayConfig {
  try {
    const file = gatewayConfigOf(config);
    if (file !== null) withOwn(readSeed({ simulated: config.SIMULATED_PROVIDER }), file);
    return file ?? NO_GATEWAY_CONFIG;
  } catch (failure) {
    throw gatewayConfigFault(failure);
  }
}
