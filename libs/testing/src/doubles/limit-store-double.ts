import {
  ApiError,
  type AccountState,
  type AdmitRequest,
  type AdmitResult,
  type ProjectionRequest,
  type PutUnit,
  type SpendScope,
} from '@gateway/contracts';
import { InProcessLimitStore } from '@gateway/limits';

type Operation = 'admit' | 'put' | 'mirror' | 'stamp' | 'version' | 'read' | 'due';

/** The in-process driver, of which a test makes operations fail as they do while the store is away. */
export class LimitStoreDouble extends InProcessLimitStore {
  readonly failing = new Set<Operation>();
  /** Accounts and versions of the stamps that were taken. */
  readonly stamps: [accountId: string, version: number][] = [];
  /** Versions that somebody else has stamped. */
  readonly versions = new Map<string, number>();

  override async admit(request: AdmitRequest): Promise<AdmitResult> {
    this.reach('admit');
    return super.admit(request);
  }

  override async put(units: PutUnit[]): Promise<void> {
    this.reach('put');
    return super.put(units);
  }

  override async mirror(request: ProjectionRequest): Promise<number | null> {
    this.reach('mirror');
    return super.mirror(request);
  }

  override async stamp(accountId: string, version: number, gen: string | null): Promise<void> {
    this.reach('stamp');
    this.stamps.push([accountId, version]);
    return super.stamp(accountId, version, gen);
  }

  override async version(accountId: string): Promise<number | null> {
    this.reach('version');
    return this.versions.get(accountId) ?? super.version(accountId);
  }

  override async read(
    accountId: string,
    scopes: { kind: SpendScope; id: string }[],
    settledBy?: number,
  ): Promise<AccountState> {
    this.reach('read');
    return super.read(accountId, scopes, settledBy);
  }

  override async due(accountId: string, limit: number): Promise<string[]> {
    this.reach('due');
    return super.due(accountId, limit);
  }

  private reach(operation: Operation): void {
    if (this.failing.has(operation)) throw new ApiError('service_unavailable');
  }
}
