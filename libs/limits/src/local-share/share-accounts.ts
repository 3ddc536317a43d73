import type { AdmitResult } from '@gateway/contracts';

type Told = Extract<AdmitResult, { outcome: 'ok' }>;

/** Counts and money of one scope, of one extra counter or of the balance, as one edge knows them. */
export interface ShareRecord {
  /** What this edge let in by itself, in windows of its own clock. */
  minute: number;
  rpm: number;
  tpm: number;
  day: number;
  rpd: number;
  /** Nano-USD of what it let in by itself and the store does not know yet. */
  own: number;
  /** Nano-USD that the store last knew to be left; null = never told. */
  left: number | null;
  /** The newest answer of the store, this record's place among its counters (-1 = it has none), and its time. */
  told: Told | null;
  place: number;
  toldAt: number;
  /** Until these times the store has refused by that limit. */
  fullUntil: { rpm: number; rpd: number; tpm: number };
}

export interface ShareAccount {
  id: string;
  version: number;
  /** Monotonic time at which the version was last confirmed. */
  confirmedAt: number;
  records: Map<string, ShareRecord>;
}

const ACCOUNTS_MAX = 50_000;
const RECORDS_MAX = 200_000;

export function newShareRecord(): ShareRecord {
  return {
    minute: 0,
    rpm: 0,
    tpm: 0,
    day: 0,
    rpd: 0,
    own: 0,
    left: null,
    told: null,
    place: -1,
    toldAt: 0,
    fullUntil: { rpm: 0, rpd: 0, tpm: 0 },
  };
}

/** Accounts of one edge, the oldest pushed out by the bound: the store's next answer tells of it again. */
export class ShareAccounts {
  private readonly accounts = new Map<string, ShareAccount>();
  private records = 0;

  get size(): number {
    return this.records;
  }

  find(id: string): ShareAccount | undefined {
    return this.accounts.get(id);
  }

  of(id: string): ShareAccount {
    let account = this.accounts.get(id);
    if (account === undefined) {
      account = { id, version: -1, confirmedAt: -Infinity, records: new Map() };
      this.accounts.set(id, account);
      if (this.accounts.size > ACCOUNTS_MAX) this.dropOldest(account);
    }
    return account;
  }

  add(account: ShareAccount, name: string, record: ShareRecord): void {
    account.records.set(name, record);
    this.records += 1;
    while (this.records > RECORDS_MAX && this.dropOldest(account));
  }

  private dropOldest(except: ShareAccount): boolean {
    for (const [id, account] of this.accounts) {
      if (account === except) continue;
      this.accounts.delete(id);
      this.records -= account.records.size;
      return true;
    }
    // One account alone holds them all: it begins anew.
    this.records -= except.records.size;
    except.records.clear();
    return false;
  }
}
