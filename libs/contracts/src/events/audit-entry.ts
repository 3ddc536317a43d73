import { IsArray, IsString, Matches } from 'class-validator';

/**
 * One change in an organization that another service than keys has made, on its way to the one audit log: the record of
 * gateway.audit.v1. Names of fields only: a value could be a secret.
 */
export class AuditEntry {
  /** `aud_<uuidv7>`: the row's id in the log, which therefore holds it once. */
  @IsString() id!: string;
  /** ISO 8601 UTC. */
  @Matches(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/) created_at!: string;
  @IsString() org_id!: string;
  /** session, admin_key, key or system. */
  @IsString() actor_kind!: string;
  @IsString() actor_id!: string;
  @IsString() ip!: string;
  /** `<noun>.<verb>`. */
  @IsString() action!: string;
  @IsString() target_type!: string;
  @IsString() target_id!: string;
  @IsArray() changed_fields!: string[];
  @IsString() request_id!: string;
}
