import type { ConsumedRecord, LogRecord } from '@gateway/contracts';

export const PARTITIONS = 8;
/** Weight of a record beside its text. */
const RECORD_CHARS = 128;
const WAITERS_MAX = 1_000;

interface Partition {
  records: ConsumedRecord[];
  /** Offset of records[0]. */
  first: number;
}

/** The position of a group in one partition, and whether one of its members has a batch of it. */
interface GroupPartition {
  committed: number;
  isTaken: boolean;
}

/** A wait until every group has committed each partition up to an offset. */
interface Passage {
  until: number[];
  resolve(): void;
}

/** A consumer group's place in one topic. */
export interface TopicGroup {
  topic: TopicBuffer;
  partitions: GroupPartition[];
  /** Members in the order they came: partition n belongs to member n modulo their number. */
  members: object[];
}

/** The records of one topic, in partitions by key, with the groups that read them. */
export class TopicBuffer {
  private readonly partitions: Partition[] = Array.from({ length: PARTITIONS }, () => ({
    records: [],
    first: 0,
  }));
  private readonly groups = new Map<string, TopicGroup>();
  private waiting: (() => void)[] = [];
  private passages: Passage[] = [];
  private chars = 0;
  private isClosed = false;
  private haveConsumersBegun = false;

  constructor(
    private readonly name: string,
    private readonly charsMax: number,
  ) {}

  /** Resolves when the buffer takes more. A batch larger than the whole budget still passes, alone. */
  async untilFree(): Promise<void> {
    while (this.chars >= this.charsMax && !this.isClosed) {
      if (this.groups.size === 0) return this.dropOldest();
      if (this.waiting.length >= WAITERS_MAX) throw new Error(`Topic ${this.name} is full.`);
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    }
  }

  append(records: LogRecord[]): void {
    for (const record of records) {
      const partition = partitionOf(record.key);
      const { first, records: kept } = this.partitions[partition];
      kept.push({ ...record, topic: this.name, partition, offset: String(first + kept.length) });
      this.chars += record.value.length + RECORD_CHARS;
    }
  }

  /** The group of this name; a new one begins at the oldest record that is still there. */
  group(name: string): TopicGroup {
    let group = this.groups.get(name);
    if (group === undefined) {
      const partitions = this.partitions.map(({ first }) => ({ committed: first, isTaken: false }));
      group = { topic: this, partitions, members: [] };
      this.groups.set(name, group);
    }
    return group;
  }

  read(partition: number, from: number, limit: number): ConsumedRecord[] {
    const { records, first } = this.partitions[partition];
    return records.slice(from - first, from - first + limit);
  }

  /** Resolves when every group has committed what is here now. */
  kept(): Promise<void> {
    const until = this.partitions.map(({ first, records }) => first + records.length);
    return new Promise((resolve) => {
      this.passages.push({ until, resolve });
      this.letPass();
    });
  }

  /** Marks topics without a group as unread: no group comes that would miss their records. */
  consumersBegan(): void {
    this.haveConsumersBegun = true;
    if (this.groups.size === 0) this.letPass();
    else for (let partition = 0; partition < PARTITIONS; partition += 1) this.trim(partition);
  }

  /** Forgets what every group has committed. */
  trim(partition: number): void {
    // A group that is still to come begins at the oldest record.
    if (!this.haveConsumersBegun) return;
    const kept = this.partitions[partition];
    const until = this.committed(partition);
    const passed = kept.records.splice(0, until - kept.first);
    kept.first = until;
    for (const record of passed) this.chars -= record.value.length + RECORD_CHARS;
    if (this.chars < this.charsMax) this.wakeWaiting();
    this.letPass();
  }

  close(): void {
    this.isClosed = true;
    this.wakeWaiting();
  }

  /** Places only rise, so whoever came first is through first. */
  private letPass(): void {
    if (!this.haveConsumersBegun || this.passages.length === 0) return;
    const committed = this.partitions.map((_, at) => this.committed(at));
    while (this.passages.length > 0 && this.passages[0].until.every((until, at) => committed[at] >= until))
      this.passages.shift()?.resolve();
  }

  /** Returns the position up to which every group has committed a partition. */
  private committed(partition: number): number {
    return Math.min(...[...this.groups.values()].map((group) => group.partitions[partition].committed));
  }

  private dropOldest(): void {
    for (const partition of this.partitions) {
      const passed = partition.records.splice(0, Math.ceil(partition.records.length / 2));
      partition.first += passed.length;
      for (const record of passed) this.chars -= record.value.length + RECORD_CHARS;
    }
  }

  private wakeWaiting(): void {
    const waiting = this.waiting;
    this.waiting = [];
    for (const wake of waiting) wake();
  }
}

/** FNV-1a: the same key is always in the same partition. */
function partitionOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < key.length; index += 1) {
    hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0) % PARTITIONS;
}
