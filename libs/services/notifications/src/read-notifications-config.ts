import { existsSync } from 'node:fs';
import { loadConfig, readConfigs, requireMakeable, SystemRandom } from '@gateway/platform';
import { NotificationsConfig, NotificationsSecretsConfig } from './notifications.config.js';
import { loadKeks } from './secrets/key-encryption.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** The settings, with the secrets that they name looked at; a file that the start makes is not made here. Throws ConfigError. */
export function readNotificationsConfig(env: Environment): Readonly<NotificationsConfig> {
  const { config } = readConfigs({
    config: () => loadConfig(NotificationsConfig, env),
    // By itself, so that another setting's fault hides none of the file.
    secrets: () => lookAtSecrets(loadConfig(NotificationsSecretsConfig, env)),
  });
  return config;
}

function lookAtSecrets(config: Readonly<NotificationsSecretsConfig>): void {
  const { NOTIFICATIONS_SECRETS_FILE: path, NOTIFICATIONS_SECRETS_CREATE: mayCreate } = config;
  const isMadeLater = config.NOTIFICATIONS_KEK === undefined && mayCreate;
  if (isMadeLater && path !== undefined && !existsSync(path))
    requireMakeable('NOTIFICATIONS_SECRETS_FILE', path);
  else loadKeks(config, new SystemRandom());
}
