import { createTransport, type Transporter } from 'nodemailer';
import { Mailer, type OutgoingMail } from './mailer.js';

const CONNECT_MS = 5_000;
const SILENCE_MS = 10_000;
const CONNECTIONS = 5;

export interface SmtpOptions {
  /** smtp[s]://[user:password@]host:port */
  url: string;
  from: string;
}

/** Hands mail to a mail server. */
export class SmtpMailer extends Mailer {
  private readonly transport: Transporter;

  constructor(private readonly options: SmtpOptions) {
    super();
    this.transport = createTransport({
      url: options.url,
      pool: true,
      maxConnections: CONNECTIONS,
      connectionTimeout: CONNECT_MS,
      greetingTimeout: CONNECT_MS,
      socketTimeout: SILENCE_MS,
      // A mail is text of ours: nothing in it is a file or an address to fetch.
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  }

  async send({ to, subject, text, html, headers }: OutgoingMail, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const ended = new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });
    // One address, never a list of them in a text.
    const message = { from: this.options.from, to: { name: '', address: to }, subject, text, html, headers };
    await Promise.race([this.transport.sendMail(message), ended]);
  }

  close(): void {
    this.transport.close();
  }
}
