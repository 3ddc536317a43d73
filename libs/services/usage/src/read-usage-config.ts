import { existsSync } from 'node:fs';
import { loadConfig, readConfigs, requireMakeable, SystemRandom } from '@gateway/platform';
import { loadContentKeks } from './contents/content-keys.js';
import { UsageConfig, UsageSecretsConfig } from './usage.config.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** The settings, with the secrets that they name looked at; a file that the start makes is not made here. Throws ConfigError. */
export function readUsageConfig(env: Environment): Readonly<UsageConfig> {
  const { config } = readConfigs({
    config: () => loadConfig(UsageConfig, env),
    // By itself, so that another setting's fault hides none of the file.
    secrets: () => lookAtSecrets(loadConfig(UsageSecretsConfig, env)),
  });
  return config;
}

function lookAtSecrets(config: Readonly<UsageSecretsConfig>): void {
  const { USAGE_SECRETS_FILE: path, USAGE_SECRETS_CREATE: mayCreate } = config;
  const isMadeLater = config.USAGE_KEK === undefined && mayCreate;
  if (isMadeLater && path !== undefined && !existsSync(path)) requireMakeable('USAGE_SECRETS_FILE', path);
  else loadContentKeks(config, new SystemRandom());
}
