import { Inject, Injectable } from '@nestjs/common';
import { HEADER, type Clock } from '@gateway/contracts';
import { CLOCK } from '@gateway/platform';
import { scrub } from '@gateway/redaction';
import { DestinationRefused, GuardedHttp, type GuardedResponse } from '@gateway/upstream';
import { SigningSecrets } from '../secrets/signing-secrets.js';
import type { Claimed, Exchange, Outcome } from './delivery.js';
import { retryAfterMs } from './schedule.js';
import { signatureOf } from './signature.js';

const CONNECT_MS = 5_000;
const TOTAL_MS = 15_000;
const ANSWER_BYTES_MAX = 16_384;
const GONE = 410;
/** Prefix of the guarded client's time-out message. */
const LATE = 'No answer within';
const DEEPEST_CAUSE = 4;

/** One attempt at an endpoint. */
@Injectable()
export class SendWebhook {
  constructor(
    private readonly http: GuardedHttp,
    private readonly secrets: SigningSecrets,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async send(claimed: Claimed): Promise<Outcome> {
    const headers = await this.headersOf(claimed);
    try {
      const answer = await this.http.request({
        url: claimed.destination,
        method: 'POST',
        headers,
        body: claimed.body,
        connectTimeoutMs: CONNECT_MS,
        totalTimeoutMs: TOTAL_MS,
        maxBytes: ANSWER_BYTES_MAX,
      });
      return this.outcomeOf(answer, headers);
    } catch (failure) {
      if (failure instanceof DestinationRefused) return { kind: 'blocked', error: failure.message };
      return {
        kind: 'failed',
        httpStatus: null,
        error: reasonOf(failure),
        exchange: { requestHeaders: headers, responseHeaders: null, responseBody: null, isCut: false },
        retryAfterMs: null,
        isGone: false,
      };
    }
  }

  private async headersOf({ channelId, eventId, eventType, attemptId, body }: Claimed) {
    const timestamp = Math.floor(this.clock.now() / 1_000);
    return {
      'content-type': 'application/json',
      'user-agent': 'model-gateway-webhooks/1',
      [HEADER.eventId]: eventId,
      [HEADER.deliveryId]: attemptId,
      [HEADER.eventType]: eventType,
      [HEADER.webhookTimestamp]: String(timestamp),
      [HEADER.webhookSignature]: signatureOf(await this.secrets.live(channelId), timestamp, body),
    };
  }

  private outcomeOf(answer: GuardedResponse, requestHeaders: Record<string, string>): Outcome {
    const { status: httpStatus } = answer;
    const exchange = exchangeOf(answer, requestHeaders);
    if (httpStatus >= 200 && httpStatus < 300) return { kind: 'delivered', httpStatus, exchange };
    return {
      kind: 'failed',
      httpStatus,
      error: `The endpoint answered ${httpStatus}.`,
      exchange,
      retryAfterMs: retryAfterMs(answer.headers['retry-after'], this.clock.now()),
      isGone: httpStatus === GONE,
    };
  }
}

/** Returns the exchange in a form that a database can hold; an endpoint may answer with credentials of its own. */
function exchangeOf(answer: GuardedResponse, requestHeaders: Record<string, string>): Exchange {
  const kept = (text: string): string => scrub(text.replaceAll('\0', '�'));
  const headers = Object.entries(answer.headers).filter(([name]) => name !== 'set-cookie');
  return {
    requestHeaders,
    responseHeaders: Object.fromEntries(headers.map(([name, value]) => [name, kept(value ?? '')])),
    responseBody: kept(answer.body.toString('utf8')),
    isCut: answer.isCut,
  };
}

/** Returns the reason of a connection failure, without addresses that its owner did not name. */
function reasonOf(failure: unknown): string {
  let current = failure;
  for (let depth = 0; depth < DEEPEST_CAUSE && typeof current === 'object' && current !== null; depth += 1) {
    if ('code' in current && typeof current.code === 'string')
      return `The connection failed (${current.code}).`;
    if ('message' in current && String(current.message).startsWith(LATE)) return String(current.message);
    current = 'cause' in current ? current.cause : undefined;
  }
  return 'The connection failed.';
}
