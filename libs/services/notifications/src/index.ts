export { NotificationsConfig } from './notifications.config.js';
export { NotificationsModule } from './notifications.module.js';
