import { IsOptional, IsString, Length, Matches, ValidateIf } from 'class-validator';
import { IsAddress, IsWritableFolder, OrFile } from '@gateway/platform';

/** Settings of the deployment's mail. */
export class MailConfig {
  /** smtp[s]://[user:password@]host:port of the mail server; absent = mail is written into a folder. */
  @OrFile() @IsOptional() @IsAddress('smtp', 'smtps') SMTP_URL?: string;
  /** Sender: an address, or `Name <address>`. */
  @Matches(/^[^\r\n]*@[^\r\n]+$/) MAIL_FROM: string = 'Model Gateway <noreply@gateway.local>';
  /** Folder that mail is written into without a mail server, one .eml file each. */
  @ValidateIf(({ SMTP_URL }: MailConfig) => SMTP_URL === undefined)
  @IsString()
  @Length(1, 1_000)
  @IsWritableFolder()
  MAIL_DIR: string = '.data/mail';
}
