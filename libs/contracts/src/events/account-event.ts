import { IsIn, IsObject, IsOptional, IsString } from 'class-validator';

/** Types on gateway.account.v1: events of the spec's table that exist so far, and the ledger's movements. */
export const ACCOUNT_EVENT_TYPES = [
  'api_key.created',
  'api_key.revoked',
  'balance.credited',
  'balance.movement',
  'spend.movement',
] as const;

export type AccountEventType = (typeof ACCOUNT_EVENT_TYPES)[number];

/** One account event or movement: the record of gateway.account.v1. `data` never holds a credential. */
export class AccountEvent {
  /** `evt_<uuidv7>`. */
  @IsString() id!: string;
  @IsIn(ACCOUNT_EVENT_TYPES) type!: AccountEventType;
  /** ISO 8601 UTC. */
  @IsString() created_at!: string;
  @IsString() account_id!: string;
  @IsOptional() @IsString() org_id!: string | null;
  /** Fields per type: spec, Events; movements: money-and-limits 5. */
  @IsObject() data!: Record<string, unknown>;
}
