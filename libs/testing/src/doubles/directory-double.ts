import {
  ApiError,
  Directory,
  type AuditedAction,
  type ContentPromise,
  type NamedIds,
  type Payer,
} from '@gateway/contracts';

/** Names, teams and payers that a test sets. Each organization has one owner. */
export class DirectoryDouble extends Directory {
  readonly known: NamedIds = { keys: {}, users: {}, teams: {} };
  /** Teams by `<org>/<user>`. */
  readonly teams = new Map<string, string[]>();
  readonly payers = new Map<string, Payer>();
  /** `<account>/<hash>` of end users. */
  readonly forgotten: string[] = [];
  readonly audited: AuditedAction[] = [];
  /** Promises by organization. */
  readonly promises: Record<string, ContentPromise[]> = {};
  isUnavailable = false;

  async names(_accountId: string, ids: Parameters<Directory['names']>[1]): Promise<NamedIds> {
    if (this.isUnavailable) throw new ApiError('service_unavailable');
    const of = (kind: keyof NamedIds): Record<string, string | null> =>
      Object.fromEntries(
        ids[kind].flatMap((id) => (id in this.known[kind] ? [[id, this.known[kind][id]]] : [])),
      );
    return { keys: of('keys'), users: of('users'), teams: of('teams') };
  }

  async teamsOf(orgId: string, userId: string): Promise<string[]> {
    if (this.isUnavailable) throw new ApiError('service_unavailable');
    return this.teams.get(`${orgId}/${userId}`) ?? [];
  }

  async payer(id: string): Promise<Payer | null> {
    if (this.isUnavailable) throw new ApiError('service_unavailable');
    return this.payers.get(id) ?? null;
  }

  async ownerEmails(orgId: string): Promise<string[]> {
    if (this.isUnavailable) throw new ApiError('service_unavailable');
    return [`owner@${orgId.replace('_', '-')}.example`];
  }

  async audit(action: AuditedAction): Promise<void> {
    if (this.isUnavailable) throw new ApiError('service_unavailable');
    this.audited.push(action);
  }

  async contentPromises(orgIds: readonly string[]): Promise<Record<string, ContentPromise[]>> {
    if (this.isUnavailable) throw new ApiError('service_unavailable');
    return Object.fromEntries(orgIds.flatMap((id) => (id in this.promises ? [[id, this.promises[id]]] : [])));
  }

  async forget(accountId: string, endUserHash: string): Promise<void> {
    if (this.isUnavailable) throw new ApiError('service_unavailable');
    this.forgotten.push(`${accountId}/${endUserHash}`);
  }
}
