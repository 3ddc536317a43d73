export { NotificationsConfig } from './notifications.config.js';
export { readNotificationsConfig } from './read-notifications-config.js';
export { NotificationsModule } from './notifications.module.js';
export {
  SCHEMA as NOTIFICATIONS_SCHEMA,
  SCHEMA_DIR as NOTIFICATIONS_SCHEMA_DIR,
} from './postgres/notifications-database.js';
