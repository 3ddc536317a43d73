import { existsSync } from 'node:fs';
import { loadConfig, readConfigs, requireMakeable, SystemRandom } from '@gateway/platform';
import { KeysConfig } from './keys.config.js';
import { orgDefaultsOf } from './orgs/org-defaults.js';
import { loadSecrets } from './secrets/service-secrets.js';

/** The settings, with the secrets and the file that they name looked at; a file that the start makes is not made here. Throws ConfigError. */
export function readKeysConfig(env: Readonly<Record<string, string | undefined>>): Readonly<KeysConfig> {
  const config = loadConfig(KeysConfig, env);
  const { KEYS_SECRETS_FILE: path, KEYS_SECRETS_CREATE: mayCreate, KEYS_PEPPER, KEYS_KEK } = config;
  const isMadeLater = mayCreate && (KEYS_PEPPER === undefined || KEYS_KEK === undefined);
  readConfigs({
    defaults: () => orgDefaultsOf(config),
    secrets: () =>
      isMadeLater && path !== undefined && !existsSync(path)
        ? requireMakeable('KEYS_SECRETS_FILE', path)
        : loadSecrets(config, new SystemRandom()),
  });
  return config;
}
