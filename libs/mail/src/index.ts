export { MailConfig } from './mail.config.js';
export { MailModule } from './mail.module.js';
export { Mailer, type OutgoingMail } from './mailer.js';
