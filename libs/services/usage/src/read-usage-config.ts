import { existsSync } from 'node:fs';
import { loadConfig, requireMakeable, SystemRandom } from '@gateway/platform';
import { loadContentKeks } from './contents/content-keys.js';
import { UsageConfig } from './usage.config.js';

/** The settings, with the secrets that they name looked at; a file that the start makes is not made here. Throws ConfigError. */
export function readUsageConfig(env: Readonly<Record<string, string | undefined>>): Readonly<UsageConfig> {
  const config = loadConfig(UsageConfig, env);
  const { USAGE_SECRETS_FILE: path, USAGE_SECRETS_CREATE: mayCreate } = config;
  const isMadeLater = config.USAGE_KEK === undefined && mayCreate;
  if (isMadeLater && path !== undefined && !existsSync(path)) requireMakeable('USAGE_SECRETS_FILE', path);
  else loadContentKeks(config, new SystemRandom());
  return config;
}
