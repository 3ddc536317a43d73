import type { Random } from '@gateway/contracts';
import { unavailable } from '@gateway/platform';
import { Agent } from 'undici';
import type { UsageConfig } from '../usage.config.js';

const TIMEOUT_MS = 15_000;
const CONNECTIONS = 8;
const BYTES_MAX = 1024 * 1024;
/** Version of the shapes that are read here. */
const API_VERSION = '2024-06-20';
const CHARGES = '/v1/payment_intents';

type Fields = Record<string, string>;

/** A card's refusal: the provider's code, such as `card_declined`. */
export class ChargeRefused extends Error {
  constructor(
    readonly code: string,
    readonly intent: string | null,
  ) {
    super(`the payment provider refused the charge: ${code}`);
  }
}

/** The customer that was named is there no more. */
export class CustomerGone extends Error {
  constructor() {
    super('the payment provider knows the customer no more');
  }
}

/** Calls Stripe, each once: what has no answer is asked again with the same key by who wants it. */
export class StripeClient {
  private readonly agent = new Agent({
    connections: CONNECTIONS,
    connectTimeout: TIMEOUT_MS,
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
    maxResponseSize: BYTES_MAX,
  });

  constructor(private readonly options: { baseUrl: string; secretKey: string; random: Random }) {}

  /** The address of a page where the person pays. Throws CustomerGone, else ApiError `service_unavailable`. */
  async checkout(idempotencyKey: string, fields: Fields): Promise<string> {
    const { url } = await this.post('/v1/checkout/sessions', idempotencyKey, fields);
    if (typeof url !== 'string' || !/^https?:\/\//.test(url)) throw this.unusable('no address of a page');
    return url;
  }

  /** Charges a saved card. Throws ChargeRefused where it says no, ApiError `service_unavailable` where nobody knows. */
  async charge(idempotencyKey: string, fields: Fields): Promise<{ intent: string; status: string }> {
    const { id, status } = await this.post(CHARGES, idempotencyKey, fields);
    if (typeof id !== 'string' || typeof status !== 'string') throw this.unusable('no payment intent');
    return { intent: id, status };
  }

  close(): Promise<void> {
    return this.agent.close();
  }

  private async post(path: string, idempotencyKey: string, fields: Fields): Promise<Record<string, unknown>> {
    const { baseUrl, secretKey } = this.options;
    const { status, text } = await this.send({
      origin: new URL(baseUrl).origin,
      path: `${new URL(baseUrl).pathname.replace(/\/$/, '')}${path}`,
      headers: {
        authorization: `Bearer ${secretKey}`,
        'content-type': 'application/x-www-form-urlencoded',
        'idempotency-key': idempotencyKey,
        'stripe-version': API_VERSION,
      },
      body: new URLSearchParams(fields).toString(),
    });
    const body = objectOf(text);
    if (status === 200) return body;
    const error = objectIn(body, 'error');
    // Everything else is about us or about them, and nobody's money.
    if (path === CHARGES && isRefusal(status, error))
      throw new ChargeRefused(codeOf(error), stringIn(objectIn(error, 'payment_intent'), 'id'));
    if (error.code === 'resource_missing' && error.param === 'customer') throw new CustomerGone();
    throw this.unusable(`${status} ${codeOf(error)}`);
  }

  private async send(request: {
    origin: string;
    path: string;
    headers: Fields;
    body: string;
  }): Promise<{ status: number; text: string }> {
    try {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const answer = await this.agent.request({ ...request, method: 'POST', signal });
      return { status: answer.statusCode, text: await answer.body.text() };
    } catch (cause) {
      throw unavailable(this.options.random, cause);
    }
  }

  private unusable(what: string): Error {
    return unavailable(this.options.random, new Error(`the payment provider answered ${what}`));
  }
}

/**
 * 402 is the card's own no. A charge that cannot be, of a card or a customer that is gone, is 400 or 404 however often it is
 * asked for. One under a key that was asked for something else (`idempotency_error`) may have been charged.
 */
function isRefusal(status: number, error: Record<string, unknown>): boolean {
  return status === 402 || ((status === 400 || status === 404) && error.type === 'invalid_request_error');
}

function codeOf(error: Record<string, unknown>): string {
  const code =
    stringIn(error, 'decline_code') ?? stringIn(error, 'code') ?? stringIn(error, 'type') ?? 'unknown';
  return plainCode(code);
}

/** Codes are words; whatever else a provider writes there is nobody's to read. */
export function plainCode(code: string): string {
  return /^[a-z0-9_]{1,64}$/.test(code) ? code : 'unknown';
}

function objectOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {}; // An answer that is no JSON is judged by its status.
  }
}

export function objectIn(value: Record<string, unknown>, name: string): Record<string, unknown> {
  const member = value[name];
  return typeof member === 'object' && member !== null ? (member as Record<string, unknown>) : {};
}

export function stringIn(value: Record<string, unknown>, name: string): string | null {
  const member = value[name];
  return typeof member === 'string' && member !== '' ? member : null;
}

/** Returns the client of the deployment; null without a secret key: then nobody is charged. */
export function stripeClient(
  { STRIPE_SECRET_KEY: secretKey, STRIPE_BASE_URL: baseUrl }: Readonly<UsageConfig>,
  random: Random,
): StripeClient | null {
  return secretKey === undefined ? null : new StripeClient({ baseUrl, secretKey, random });
}
