/** A mail to one person. */
export interface OutgoingMail {
  /** One address. */
  to: string;
  subject: string;
  text: string;
  /** The same for those who read HTML. */
  html?: string;
  /** Headers beside the usual ones. */
  headers?: Readonly<Record<string, string>>;
}

/**
 * Hands mail over for delivery. Drivers: files in a folder; SMTP. Rejects where it was not taken: the caller keeps the
 * mail and tries again, so one that was taken and not acknowledged may go out twice.
 */
export abstract class Mailer {
  abstract send(mail: OutgoingMail, signal: AbortSignal): Promise<void>;
}
