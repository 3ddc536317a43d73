import {
  ApiError,
  CatalogueReader,
  EventLog,
  Funds,
  PrincipalReader,
  type CatalogueModel,
  type CatalogueSnapshot,
  type Clock,
  type Consumer,
  type Credential,
  type KeyPrincipal,
  type LogRecord,
  type Random,
} from '@gateway/contracts';
import { Shipper } from '@gateway/journal';
import type { InProcessLimitStore } from '@gateway/limits';
import type { StartShipper } from './units/journal-runtime.js';

/** Keeps what was appended, by topic. */
export class KeptEventLog extends EventLog {
  readonly records: { topic: string; record: LogRecord }[] = [];
  append(topic: string, records: LogRecord[]): Promise<void> {
    for (const record of records) this.records.push({ topic, record });
    return Promise.resolve();
  }
  consume(): Promise<Consumer> {
    return Promise.reject(new Error('nobody consumes here'));
  }
  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** A catalogue that a test changes while the edge runs: every change is a new snapshot. */
export class TestCatalogue extends CatalogueReader {
  private current: CatalogueSnapshot = {
    id: 'snap_0',
    created_at: '2026-11-21T00:00:00Z',
    models: [],
    providers: [],
  };
  private changes = 0;

  /** Adds a model, or replaces the one of its id. */
  serve(...models: CatalogueModel[]): void {
    this.changes += 1;
    const ids = new Set(models.map(({ record }) => record.id));
    const kept = this.current.models.filter(({ record }) => !ids.has(record.id));
    this.current = { ...this.current, id: `snap_${this.changes}`, models: [...kept, ...models] };
  }
  snapshot(): CatalogueSnapshot {
    return this.current;
  }
  snapshotById(id: string): Promise<CatalogueSnapshot | null> {
    return Promise.resolve(id === this.current.id ? this.current : null);
  }
  onChange(): () => void {
    return () => undefined;
  }
}

/** Ships beside the test into the log that keeps everything; nothing is ever applied. */
export function keepingShipper(log: KeptEventLog, clock: Clock, random: Random): StartShipper {
  return (events) => {
    const shipper = new Shipper({
      append: (topic, records) => log.append(topic, records),
      watermark: () => Promise.resolve(0),
      clock,
      random,
      events,
    });
    shipper.start();
    return shipper;
  };
}

/** Principals that a test changes while the edge runs. What is in `cached` is resolved until it is reloaded. */
export class TestPrincipals extends PrincipalReader {
  readonly byDigest = new Map<string, KeyPrincipal>();
  readonly cached = new Map<string, KeyPrincipal>();
  reloads = 0;
  resolve(credential: Credential): Promise<KeyPrincipal> {
    const digest = 'digest' in credential ? credential.digest : '';
    const found = this.cached.get(digest) ?? this.byDigest.get(digest);
    return found ? Promise.resolve(found) : Promise.reject(new ApiError('unauthorized'));
  }
  reload(credential: Credential): Promise<KeyPrincipal> {
    this.reloads += 1;
    if ('digest' in credential) this.cached.delete(credential.digest);
    return this.resolve(credential);
  }
}

/** Says a balance to a store that asks, and nothing spent. */
export class TestFunds extends Funds {
  seeded = 0;
  constructor(
    private readonly limits: InProcessLimitStore,
    public balanceNano: bigint,
  ) {
    super();
  }
  seedGate(accountId: string, gen: string, scopes: Parameters<Funds['seedGate']>[2]): Promise<void> {
    this.seeded += 1;
    return this.limits.mirror({
      accountId,
      gen,
      version: 1,
      balanceNano: this.balanceNano,
      scopes: scopes.map((scope) => ({ ...scope, postedNano: 0n })),
      units: [],
    });
  }
  spent(scopes: Parameters<Funds['spent']>[0]): Promise<string[]> {
    return Promise.resolve(scopes.map(() => '0'));
  }
  credit(): Promise<void> {
    return Promise.resolve();
  }
  watermark(): Promise<number> {
    return Promise.resolve(0);
  }
}
