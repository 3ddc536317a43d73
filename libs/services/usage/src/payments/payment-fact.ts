import { Usd } from '@gateway/money';
import { objectIn, plainCode, stringIn } from './stripe-client.js';

interface OfCharge {
  eventId: string;
  type: string;
  /** The provider's id of the charge; null where it has none yet. */
  intent: string | null;
  /** Ours, where the event says it. */
  paymentId: string | null;
}

/** The content of a payment provider's event, in our words. */
export type PaymentFact = OfCharge &
  (
    | { kind: 'captured'; amount: Usd; customer: string | null; paymentMethod: string | null }
    | { kind: 'failed'; reason: string }
    | { kind: 'expired' }
    | { kind: 'refund'; id: string; amount: Usd; isFailed: boolean }
    | { kind: 'dispute'; id: string; amount: Usd; isReinstated: boolean }
  );

type Json = Record<string, unknown>;

const REFUND_TYPES = ['refund.created', 'refund.updated', 'refund.failed', 'charge.refund.updated'];

/** null for what concerns no balance. Throws TypeError for an event that is none of Stripe's. */
export function paymentFact(event: unknown): PaymentFact | null {
  const body = typeof event === 'object' && event !== null ? (event as Json) : {};
  const [eventId, type] = [stringIn(body, 'id'), stringIn(body, 'type')];
  if (eventId === null || type === null) throw new TypeError('an event has an id and a type');
  const object = objectIn(objectIn(body, 'data'), 'object');
  const isIntent = type.startsWith('payment_intent.');
  const of: OfCharge = {
    eventId,
    type,
    intent: stringIn(object, isIntent ? 'id' : 'payment_intent'),
    paymentId: stringIn(objectIn(object, 'metadata'), 'payment_id'),
  };
  // Other currencies are never asked for: such an object is another product's.
  if (stringIn(object, 'currency') !== 'usd') return null;
  if (type.startsWith('checkout.session.')) return sessionFact(of, object);
  if (type === 'payment_intent.succeeded')
    return { ...of, kind: 'captured', amount: cents(object.amount_received), ...cardOf(object) };
  if (type === 'payment_intent.payment_failed')
    return { ...of, kind: 'failed', reason: reasonOf(objectIn(object, 'last_payment_error')) };
  if (REFUND_TYPES.includes(type)) return refundFact(of, object);
  if (type === 'charge.dispute.funds_withdrawn' || type === 'charge.dispute.funds_reinstated')
    return {
      ...of,
      kind: 'dispute',
      id: idOf(object),
      amount: cents(object.amount),
      isReinstated: type.endsWith('reinstated'),
    };
  return null;
}

function sessionFact(of: OfCharge, object: Json): PaymentFact | null {
  switch (of.type) {
    case 'checkout.session.completed':
    case 'checkout.session.async_payment_succeeded':
      if (object.payment_status !== 'paid') return null;
      return { ...of, kind: 'captured', amount: cents(object.amount_total), ...cardOf(object) };
    case 'checkout.session.async_payment_failed':
      return { ...of, kind: 'failed', reason: 'async_payment_failed' };
    case 'checkout.session.expired':
      return { ...of, kind: 'expired' };
    default:
      return null;
  }
}

function refundFact(of: OfCharge, object: Json): PaymentFact | null {
  const isFailed = object.status === 'failed' || object.status === 'canceled';
  if (!isFailed && object.status !== 'succeeded') return null;
  return { ...of, kind: 'refund', id: idOf(object), amount: cents(object.amount), isFailed };
}

function cardOf(object: Json): { customer: string | null; paymentMethod: string | null } {
  return { customer: stringIn(object, 'customer'), paymentMethod: stringIn(object, 'payment_method') };
}

function reasonOf(error: Json): string {
  return plainCode(stringIn(error, 'decline_code') ?? stringIn(error, 'code') ?? 'unknown');
}

function idOf(object: Json): string {
  const id = stringIn(object, 'id');
  if (id === null) throw new TypeError('a refund or dispute has an id');
  return id;
}

const NANO_OF_CENT = 10_000_000n;

function cents(value: unknown): Usd {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value <= 0)
    throw new TypeError('an amount is a whole number of cents');
  return Usd.fromNano(BigInt(value) * NANO_OF_CENT);
}

/** Returns the amount in Stripe's form; it has two decimals at most. */
export function centsText(amount: Usd): string {
  return (amount.toNano('half-up') / NANO_OF_CENT).toString();
}
