import type { ConsumedRecord, DeadLetter } from '@gateway/contracts';

/** A record that cannot be applied, with what could be read of its data. */
export interface DeadRecord {
  record: ConsumedRecord;
  reason: string;
  data: Readonly<Record<string, unknown>> | null;
  /**
   * True if a newer release wrote a type or a value that this one does not know. Consumers of account and audit events
   * count it and leave it. The ledger makes a dead letter of it: its money is applied later.
   */
  isUnknown?: boolean;
}

/** A larger text would not fit into one record of the log. */
const VALUE_MAX = 100_000;

export function deadLetter(
  { record, reason }: Pick<DeadRecord, 'record' | 'reason'>,
  service: string,
): DeadLetter {
  const { topic, partition, offset } = record;
  return { service, reason, topic, partition, offset, value: record.value.slice(0, VALUE_MAX) };
}
