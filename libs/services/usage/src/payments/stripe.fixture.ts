import { createHmac } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export const SIGNING_SECRET = 'whsec_of_the_usage_specs';
export const STRIPE_KEY = 'sk_test_of_the_usage_specs';

const CHARGES = '/v1/payment_intents';

interface Call {
  path: string;
  key: string;
  fields: Record<string, string>;
}

/** A stand-in for Stripe: remembers idempotency keys, charges or declines, and signs what it reports. Only specs start it. */
export class StripeDouble {
  readonly calls: Call[] = [];
  /** Decline code of the next charges; null = they clear. */
  declines: string | null = null;
  /** True to charge, send nothing and close. */
  isDumb = false;
  /** First status of a charge that clears: a bank debit takes days. */
  status: 'succeeded' | 'processing' = 'succeeded';
  /** The saved card, and the customer that it is of, are there no more. */
  isCardGone = false;
  private readonly answers = new Map<string, { status: number; body: object }>();
  private server: Server | undefined;
  private events = 0;

  get url(): string {
    return `http://127.0.0.1:${(this.server?.address() as AddressInfo).port}`;
  }

  async start(): Promise<this> {
    this.server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const fields = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString()));
        const key = String(request.headers['idempotency-key']);
        const path = request.url ?? '';
        if (request.headers.authorization !== `Bearer ${STRIPE_KEY}`)
          return void response.writeHead(401).end('{}');
        this.calls.push({ path, key, fields });
        const answer = this.answers.get(key) ?? this.answer(path, fields);
        this.answers.set(key, answer);
        if (this.isDumb) return void request.socket.destroy();
        response
          .writeHead(answer.status, { 'content-type': 'application/json' })
          .end(JSON.stringify(answer.body));
      });
    });
    await new Promise<void>((done) => this.server?.listen(0, '127.0.0.1', done));
    return this;
  }

  /** Keys are kept for a day. */
  forgetKeys(): void {
    this.answers.clear();
  }

  /** Returns the requested charges. */
  charges(): Call[] {
    return this.calls.filter(({ path }) => path === CHARGES);
  }

  async close(): Promise<void> {
    this.server?.closeAllConnections();
    await new Promise((done) => this.server?.close(done));
  }

  /** An event of this object, as Stripe writes it. */
  event(type: string, object: Record<string, unknown>): string {
    this.events += 1;
    const data = { object: { currency: 'usd', ...object } };
    return JSON.stringify({ id: `evt_${this.events}`, object: 'event', type, data });
  }

  private answer(path: string, fields: Record<string, string>): { status: number; body: object } {
    if (path === '/v1/checkout/sessions' && this.isCardGone && fields.customer !== undefined) {
      const error = { type: 'invalid_request_error', code: 'resource_missing', param: 'customer' };
      return { status: 400, body: { error } };
    }
    if (path === '/v1/checkout/sessions')
      return {
        status: 200,
        body: { id: 'cs_1', url: `https://pay.example/${fields['metadata[payment_id]']}` },
      };
    // Since 2023-08-16 an intent takes all kinds of payment, redirects too, unless the request rules them out.
    const isRedirecting = fields['automatic_payment_methods[allow_redirects]'] !== 'never';
    if (this.isCardGone || (fields.confirm === 'true' && isRedirecting && fields.return_url === undefined)) {
      const error = {
        type: 'invalid_request_error',
        ...(this.isCardGone && { code: 'resource_missing' }),
      };
      return { status: 400, body: { error } };
    }
    const id = `pi_${fields['metadata[payment_id]']}`;
    if (this.declines === null) return { status: 200, body: { id, status: this.status } };
    const error = {
      type: 'card_error',
      code: 'card_declined',
      decline_code: this.declines,
      payment_intent: { id },
    };
    return { status: 402, body: { error } };
  }
}

export function signature(body: string, at: number, secret = SIGNING_SECRET): string {
  const time = Math.floor(at / 1000);
  return `t=${time},v1=${createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')}`;
}
