import { IsIn, IsObject, IsOptional, IsString } from 'class-validator';
import { ApiKeyCreated, ApiKeyRevoked } from './account/api-key.js';
import { AutoRechargeFailed, AutoRechargeSucceeded, AutoRechargeTriggered } from './account/auto-recharge.js';
import { BalanceCredited, BalanceDepleted, BalanceLow } from './account/balance.js';
import { BatchCompleted, BatchFailed } from './account/batch.js';
import { EndUserErased } from './account/end-user-erased.js';
import { MemberAdded, MemberRemoved } from './account/member.js';
import { ModelRetiring } from './account/model-retiring.js';
import { BalanceMovement, BudgetMovement, SpendMovement } from './account/movements.js';
import { PaymentFailed, PaymentSucceeded } from './account/payment.js';
import { ProviderFallback } from './account/provider-fallback.js';
import { ByokKeyFailed, ProviderKeyAdded, ProviderKeyRemoved } from './account/provider-key.js';
import { RateLimitThreshold } from './account/rate-limit.js';
import { BudgetThreshold, SpendCapApproaching, SpendCapHit } from './account/spend-cap.js';
import { VideoCompleted, VideoFailed } from './account/video.js';

/** The class of `data` for each event of the spec's table, in its order, and then for those that were added to it. */
const ACCOUNT_EVENTS = {
  'api_key.created': ApiKeyCreated,
  'api_key.revoked': ApiKeyRevoked,
  'member.added': MemberAdded,
  'member.removed': MemberRemoved,
  'balance.low': BalanceLow,
  'balance.credited': BalanceCredited,
  'auto_recharge.triggered': AutoRechargeTriggered,
  'auto_recharge.succeeded': AutoRechargeSucceeded,
  'auto_recharge.failed': AutoRechargeFailed,
  'balance.depleted': BalanceDepleted,
  'payment.succeeded': PaymentSucceeded,
  'spend_cap.approaching': SpendCapApproaching,
  'spend_cap.hit': SpendCapHit,
  'rate_limit.threshold': RateLimitThreshold,
  'provider_key.added': ProviderKeyAdded,
  'provider_key.removed': ProviderKeyRemoved,
  'batch.completed': BatchCompleted,
  'batch.failed': BatchFailed,
  'video.completed': VideoCompleted,
  'video.failed': VideoFailed,
  'payment.failed': PaymentFailed,
  'byok_key.failed': ByokKeyFailed,
  'provider.fallback': ProviderFallback,
  'model.retiring': ModelRetiring,
  'budget.threshold': BudgetThreshold,
} as const;

export type AccountEventType = keyof typeof ACCOUNT_EVENTS;

/** Types that a policy may name. */
export const ACCOUNT_EVENT_TYPES = Object.keys(ACCOUNT_EVENTS) as AccountEventType[];
/**
 * Types that the notifications service makes of movements, usage records and rejections, for a policy's threshold. No
 * topic carries them.
 */
export const MADE_OF_OTHERS: ReadonlySet<string> = new Set<AccountEventType>([
  'balance.low',
  'balance.depleted',
  'spend_cap.approaching',
  'spend_cap.hit',
  'budget.threshold',
  'rate_limit.threshold',
  'provider.fallback',
]);

/** The ledger's movements, from which the notifications service makes the events with thresholds, and erasures. */
const MOVEMENTS = {
  'balance.movement': BalanceMovement,
  'spend.movement': SpendMovement,
  'budget.movement': BudgetMovement,
  'end_user.erased': EndUserErased,
} as const;

/** Everything on gateway.account.v1, and MADE_OF_OTHERS. */
export const ACCOUNT_RECORDS = { ...ACCOUNT_EVENTS, ...MOVEMENTS } as const;

export type AccountRecordType = keyof typeof ACCOUNT_RECORDS;
export type AccountData<Type extends AccountRecordType> = InstanceType<(typeof ACCOUNT_RECORDS)[Type]>;

const TYPES = Object.keys(ACCOUNT_RECORDS) as AccountRecordType[];

/** One account event or movement: the record of gateway.account.v1. `data` never holds a credential. */
export class AccountEvent<Type extends AccountRecordType = AccountRecordType> {
  /** `evt_<uuidv7>`. */
  @IsString() id!: string;
  @IsIn(TYPES) type!: Type;
  /** ISO 8601 UTC. */
  @IsString() created_at!: string;
  @IsString() account_id!: string;
  @IsOptional() @IsString() org_id!: string | null;
  /** Checks the fields by the class named for the type: ACCOUNT_RECORDS, the messages of docs/asyncapi.json. */
  @IsObject() data!: AccountData<Type>;
}

/** An event as its producer writes it: a field that the type's class does not have does not compile. */
export type NewAccountEvent = {
  [Type in AccountRecordType]: Omit<AccountEvent<Type>, 'id' | 'created_at'>;
}[AccountRecordType];
