import { existsSync } from 'node:fs';
import { loadConfig, requireMakeable, SystemRandom } from '@gateway/platform';
import { NotificationsConfig } from './notifications.config.js';
import { loadKeks } from './secrets/key-encryption.js';

/** The settings, with the secrets that they name looked at; a file that the start makes is not made here. Throws ConfigError. */
export function readNotificationsConfig(
  env: Readonly<Record<string, string | undefined>>,
): Readonly<NotificationsConfig> {
  const config = loadConfig(NotificationsConfig, env);
  const { NOTIFICATIONS_SECRETS_FILE: path, NOTIFICATIONS_SECRETS_CREATE: mayCreate } = config;
  const isMadeLater = config.NOTIFICATIONS_KEK === undefined && mayCreate;
  if (isMadeLater && path !== undefined && !existsSync(path))
    requireMakeable('NOTIFICATIONS_SECRETS_FILE', path);
  else loadKeks(config, new SystemRandom());
  return config;
}
