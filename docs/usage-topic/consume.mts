#!/usr/bin/env node
// Adds up gateway.usage.v1 and gateway.usage.v2 per account. Node >= 22.18 runs it as it is:
//   KAFKA_BROKERS=127.0.0.1:9092 node docs/usage-topic/consume.mts     needs the package kafkajs
//   node docs/usage-topic/consume.mts --lines < values.jsonl           one record's value a line; prints the sums
import { createInterface } from 'node:readline';

interface UsageRecord {
  request_id: string;
  /** Absent on v2 = 0. */
  unit?: number;
  account_id: string;
  error_code?: string | null;
  cost_usd?: string | null;
}

/** A unit is on one of them. */
const TOPICS = ['gateway.usage.v1', 'gateway.usage.v2'];

/** 12 decimals, as integers: a cost is never a float. */
const SCALE = 12;

function units(cost: string): bigint {
  const [whole, fraction = ''] = cost.split('.');
  return BigInt(whole + fraction.padEnd(SCALE, '0'));
}

function text(amount: bigint): string {
  const digits = amount.toString().padStart(SCALE + 1, '0');
  return `${digits.slice(0, -SCALE)}.${digits.slice(-SCALE)}`.replace(/\.?0+$/, '');
}

/** Records come at least once: a unit counts once, and a real outcome replaces that of a died process. */
class Sums {
  private readonly seen = new Map<string, UsageRecord>(); // A real consumer keeps this in its database.

  add(value: string): void {
    // Unknown members are of a later release: ignore them.
    const { type, data } = JSON.parse(value) as { type: string; data: UsageRecord };
    if (!TOPICS.includes(type)) return;
    const unit = `${data.request_id}/${data.unit ?? 0}`;
    const known = this.seen.get(unit);
    if (known === undefined || (known.error_code === 'gateway_crash' && data.error_code !== 'gateway_crash'))
      this.seen.set(unit, data);
  }

  perAccount(): Record<string, { units: number; cost_usd: string }> {
    const sums = new Map<string, { count: number; cost: bigint }>();
    for (const { account_id, cost_usd } of this.seen.values()) {
      const sum = sums.get(account_id) ?? { count: 0, cost: 0n };
      sums.set(account_id, { count: sum.count + 1, cost: sum.cost + (cost_usd ? units(cost_usd) : 0n) });
    }
    const sorted = [...sums].sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(
      sorted.map(([id, { count, cost }]) => [id, { units: count, cost_usd: text(cost) }]),
    );
  }
}

const sums = new Sums();
if (process.argv.includes('--lines')) {
  for await (const line of createInterface({ input: process.stdin })) if (line !== '') sums.add(line);
  console.log(JSON.stringify(sums.perAccount()));
} else {
  const { Kafka } = await import('kafkajs');
  const kafka = new Kafka({
    clientId: 'usage-example',
    brokers: (process.env.KAFKA_BROKERS ?? '').split(','),
  });
  // A group of its own: it gets every record, beside the ledger. From the beginning = a replay of what the topic keeps.
  const consumer = kafka.consumer({ groupId: process.env.KAFKA_GROUP ?? 'usage-example' });
  await consumer.connect();
  await consumer.subscribe({ topics: TOPICS, fromBeginning: true });
  await consumer.run({
    eachMessage: async ({ message }) => {
      if (message.value === null) return;
      sums.add(message.value.toString());
      console.log(JSON.stringify(sums.perAccount()));
    },
  });
}
