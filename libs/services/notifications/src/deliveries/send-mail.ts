import { Injectable } from '@nestjs/common';
import { HEADER } from '@gateway/contracts';
import { Mailer } from '@gateway/mail';
import type { Claimed, Outcome } from './delivery.js';
import { eventMail } from './event-mail.js';

const SEND_TIMEOUT_MS = 15_000;

/** One attempt at a mailbox. */
@Injectable()
export class SendMail {
  constructor(private readonly mailer: Mailer) {}

  async send({ destination, body, eventId, attemptId, eventType }: Claimed): Promise<Outcome> {
    const headers = {
      [HEADER.eventId]: eventId,
      [HEADER.deliveryId]: attemptId,
      [HEADER.eventType]: eventType,
    };
    const mail = { ...eventMail(body), to: destination, headers };
    const requestHeaders = { To: destination, Subject: mail.subject, ...headers };
    const exchange = { requestHeaders, responseHeaders: null, responseBody: null, isCut: false };
    try {
      await this.mailer.send(mail, AbortSignal.timeout(SEND_TIMEOUT_MS));
    } catch (failure) {
      const error = reasonOf(failure);
      return { kind: 'failed', httpStatus: null, error, exchange, retryAfterMs: null, isGone: false };
    }
    return { kind: 'delivered', httpStatus: null, exchange };
  }
}

/** The mail server's code, and nothing of its words. */
function reasonOf(failure: unknown): string {
  const code =
    typeof failure === 'object' && failure !== null && 'responseCode' in failure
      ? failure.responseCode
      : null;
  return typeof code === 'number'
    ? `The mail server answered ${code}.`
    : 'The mail server could not be reached.';
}
