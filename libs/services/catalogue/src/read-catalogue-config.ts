import { loadConfig, readConfigs } from '@gateway/platform';
import { NO_GATEWAY_CONFIG, type GatewayConfig, type GatewayFile } from '@gateway/providers';
import { gatewayConfigFault, gatewayFile, withFile } from '@gateway/upstream';
import { CatalogueConfig, OwnConfig } from './catalogue.config.js';
import { discoverable } from './own/own.config.js';
import { withWholeFile } from './own/whole-file.js';
import { readSeed } from './seed/read-seed.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** The settings, with what they name looked at as the start does it. Throws ConfigError. */
export function readCatalogueConfig(env: Environment): Readonly<CatalogueConfig> {
  const { config } = readConfigs({
    config: () => loadConfig(CatalogueConfig, withFile(env, soundPart(env))),
    // By itself, so that another setting's fault hides none of the file.
    own: () => {
      const own = loadConfig(OwnConfig, env);
      const file = gatewayFile({ GATEWAY_CONFIG: own.GATEWAY_CONFIG });
      // A credential that cannot be read is a fault, too.
      readConfigs({ file: () => fits(file, own), servers: () => discoverable(own, file.config, env) });
    },
  });
  return config;
}

/** Returns the part of the operator's file that can be read; its faults are told by themselves. */
function soundPart({ GATEWAY_CONFIG }: Environment): GatewayConfig {
  try {
    return gatewayFile({ GATEWAY_CONFIG }).config;
  } catch {
    return NO_GATEWAY_CONFIG;
  }
}

/** Throws ConfigError where the file has a fault or does not fit the data of the release. */
function fits(file: GatewayFile, { SIMULATED_PROVIDER: simulated }: Readonly<OwnConfig>): void {
  try {
    withWholeFile(readSeed({ simulated }), file);
  } catch (failure) {
    throw gatewayConfigFault(failure);
  }
}
