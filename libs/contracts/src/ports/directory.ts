import type { ContentPromise } from '../content-promises.js';

/** An action in another service that belongs into an organization's audit log. */
export interface AuditedAction {
  id: string;
  /** ISO 8601. */
  created_at: string;
  org_id: string | null;
  actor_kind: 'key' | 'session' | 'admin_key' | 'system';
  actor_id: string;
  ip: string;
  action: string;
  target_type: string;
  target_id: string;
  changed_fields: string[];
  request_id: string;
}

/** Names of an account's ids; null where one has no name, absent where it is not of the account. */
export interface NamedIds {
  keys: Record<string, string | null>;
  users: Record<string, string | null>;
  teams: Record<string, string | null>;
}

/** An account and the organization it belongs to; null for a person's own. */
export interface Payer {
  accountId: string;
  orgId: string | null;
  /** True for a deleted organization, which has no owner left. */
  isClosed?: true;
}

/**
 * Lookup of people and organizations, for services that store ids alone. Drivers: database in process (keys service);
 * HTTP. Throws ApiError
 * `service_unavailable` where nobody could say.
 */
export abstract class Directory {
  /** Returns the names of at most 500 ids of each kind. People are named by their name, else their address. */
  abstract names(
    accountId: string,
    ids: { keys: readonly string[]; users: readonly string[]; teams: readonly string[] },
  ): Promise<NamedIds>;
  /** Teams of the organization that the person is in. */
  abstract teamsOf(orgId: string, userId: string): Promise<string[]>;
  /** The account of an organization, a person or an account's own id; null where there is none. */
  abstract payer(id: string): Promise<Payer | null>;
  /** Returns the addresses of the organization's owners, for what concerns it as a whole. */
  abstract ownerEmails(orgId: string): Promise<string[]>;
  /** Removes what the account remembers of an end user. A repeat changes nothing. */
  abstract forget(accountId: string, endUserHash: string): Promise<void>;
  /** Notes an action in the organization's audit log. A repeat changes nothing. */
  abstract audit(action: AuditedAction): Promise<void>;
  /** Returns the retention of logged contents for at most 500 organizations. One that is unknown is absent. */
  abstract contentPromises(orgIds: readonly string[]): Promise<Record<string, ContentPromise[]>>;
}
