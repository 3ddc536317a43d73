export { MailConfig } from './mail.config.js';
export { MailModule } from './mail.module.js';
