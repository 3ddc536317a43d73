import type { EdgeConfig, FrontDoorServices } from '@gateway/edge';

/** Where the front door passes the paths of other services on to. */
export function frontDoorOf(config: Readonly<EdgeConfig>): FrontDoorServices {
  return {
    keys: config.KEYS_URL,
    catalogue: config.CATALOGUE_URL,
    usage: config.USAGE_URL,
    notifications: config.NOTIFICATIONS_URL,
    workers: config.WORKERS_URL,
  };
}
