import type { EdgeConfig, FrontDoorServices } from '@gateway/edge';

/** Returns the addresses to which the front door passes the paths of other services. */
export function frontDoorOf(config: Readonly<EdgeConfig>): FrontDoorServices {
  return {
    keys: config.KEYS_URL,
    catalogue: config.CATALOGUE_URL,
    usage: config.USAGE_URL,
    notifications: config.NOTIFICATIONS_URL,
    workers: config.WORKERS_URL,
  };
}
