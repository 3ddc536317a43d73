/** Rows of a topic that may be on their way at once; a consumer that stands still holds no more in memory. */
const TOPIC_MAX = 5_000;

interface Sent {
  topic: string;
  isKept: boolean;
}

/** Rows of an outbox that the event log has taken and does not keep yet: they stay in the table and are not sent again. */
export class SentRows {
  private readonly rows = new Map<string, Sent>();
  private readonly counts = new Map<string, number>();

  /** Resolves when the log keeps them. */
  async add(topic: string, ids: readonly string[], kept: Promise<void>): Promise<void> {
    const sent = ids.map((id) => {
      const row = { topic, isKept: false };
      this.rows.set(id, row);
      return row;
    });
    this.count(topic, ids.length);
    await kept;
    for (const row of sent) row.isKept = true;
  }

  ids(): string[] {
    return [...this.rows.keys()];
  }

  /** Returns the rows that may be deleted. */
  kept(): string[] {
    return [...this.rows].filter(([, { isKept }]) => isKept).map(([id]) => id);
  }

  /** Topics of which no more is sent for now. */
  fullTopics(): string[] {
    return [...this.counts].filter(([, count]) => count >= TOPIC_MAX).map(([topic]) => topic);
  }

  /** Takes out those that were deleted. */
  forget(ids: readonly string[]): void {
    for (const id of ids) {
      const row = this.rows.get(id);
      if (row === undefined) continue;
      this.rows.delete(id);
      this.count(row.topic, -1);
    }
  }

  private count(topic: string, by: number): void {
    this.counts.set(topic, (this.counts.get(topic) ?? 0) + by);
  }
}
