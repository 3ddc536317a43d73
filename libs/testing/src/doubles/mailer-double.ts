import type { Mailer, OutgoingMail } from '@gateway/mail';

/** Keeps what is sent. */
export class MailerDouble implements Mailer {
  readonly sent: OutgoingMail[] = [];
  /** True while nothing is taken. */
  isUnavailable = false;
  /** Addresses that take nothing. */
  readonly refusing = new Set<string>();

  async send(mail: OutgoingMail): Promise<void> {
    if (this.isUnavailable) throw new Error('The mail server is away.');
    if (this.refusing.has(mail.to)) throw new Error('The mailbox is unavailable.');
    this.sent.push(mail);
  }

  /** Returns the text behind `#token=` in the newest mail to an address. */
  tokenFor(to: string): string {
    const text = this.sent.findLast((mail) => mail.to === to)?.text ?? '';
    return /#token=([\w-]+)/.exec(text)?.[1] ?? '';
  }
}
