import { IsOptional, IsString, Length, Matches } from 'class-validator';
import { IsAddress, OrFile } from '@gateway/platform';

/** How the deployment sends mail. */
export class MailConfig {
  /** smtp[s]://[user:password@]host:port of the mail server; absent = mail is written into a folder. */
  @OrFile() @IsOptional() @IsAddress('smtp', 'smtps') SMTP_URL?: string;
  /** Sender: an address, or `Name <address>`. */
  @Matches(/^[^\r\n]*@[^\r\n]+$/) MAIL_FROM: string = 'Model Gateway <noreply@gateway.local>';
  /** Folder that mail is written into without a mail server, one .eml file each. */
  @IsString() @Length(1, 1_000) MAIL_DIR: string = '.data/mail';
}
