import type { Schemas } from '../api/schemas.js';

export type EventType = Schemas['CreatePolicyBody']['alert_type'];

/** Every event that a channel can be told of, in words; those about money first. */
export const EVENT_WORDS: Readonly<Record<EventType, string>> = {
  'balance.low': 'Balance is low',
  'balance.depleted': 'Balance is used up',
  'balance.credited': 'Credit was added',
  'spend_cap.approaching': 'Spend nears a cap',
  'spend_cap.hit': 'Spend cap is reached',
  'budget.threshold': 'A budget reached a threshold',
  'rate_limit.threshold': 'Requests near a rate limit',
  'auto_recharge.triggered': 'Automatic recharge began',
  'auto_recharge.succeeded': 'Automatic recharge succeeded',
  'auto_recharge.failed': 'Automatic recharge failed',
  'payment.succeeded': 'Payment succeeded',
  'payment.failed': 'Payment failed',
  'provider.fallback': 'A fallback provider served',
  'model.retiring': 'A model that you use will be retired',
  'byok_key.failed': 'A provider key failed',
  'provider_key.added': 'Provider key was added',
  'provider_key.removed': 'Provider key was removed',
  'batch.completed': 'Batch completed',
  'batch.failed': 'Batch failed',
  'video.completed': 'Video completed',
  'video.failed': 'Video failed',
  'api_key.created': 'API key was created',
  'api_key.revoked': 'API key was suspended',
  'member.added': 'Member was added',
  'member.removed': 'Member was removed',
};

/** Returns the words of an event; one that is not known stays as it is, such as that of a test. */
export function eventWords(type: string): string {
  return Object.entries(EVENT_WORDS).find(([name]) => name === type)?.[1] ?? type;
}
