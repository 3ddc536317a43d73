import { Controller, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { EventPattern, Payload } from '@nestjs/microservices';
import { deadLetterTopic, EventLog, TOPIC, type ConsumedRecord } from '@gateway/contracts';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { eventually, fixedClock, seededRandom } from '@gateway/testing/plain';
import { CLOCK, Metrics, SystemClock } from '@gateway/platform';
import type { DeadRecord } from './dead-letter.js';
import { connectEventLog } from './event-log-transport.js';
import { InProcessEventLog } from './in-process-event-log.js';

const batches: string[][] = [];
const others: string[] = [];
let failures = 0;

@Controller()
class UsageConsumer {
  @EventPattern({ topic: TOPIC.usage, group: 'usage' }, { maxBatch: 3, lingerMs: 5 })
  async apply(@Payload() batch: ConsumedRecord[]): Promise<DeadRecord[]> {
    if (failures > 0) {
      failures -= 1;
      throw new Error('The database is away.');
    }
    batches.push(batch.map((record) => record.value));
    const dead = batch.filter(({ value }) => value === 'x' || value === 'new');
    return dead.map((record) => ({
      record,
      reason: 'It is an x.',
      data: null,
      ...(record.value === 'new' ? { isUnknown: true } : {}),
    }));
  }
}

@Controller()
class OtherConsumer {
  @EventPattern({ topic: TOPIC.usage, group: 'other' })
  see(@Payload() batch: ConsumedRecord[]): void {
    others.push(...batch.map(({ value }) => value));
  }
}

const log = new InProcessEventLog({ clock: new SystemClock(), random: seededRandom(1) });
const metrics = new Metrics();

@Module({
  controllers: [UsageConsumer, OtherConsumer],
  providers: [
    { provide: EventLog, useValue: log },
    { provide: Metrics, useValue: metrics },
    { provide: CLOCK, useValue: fixedClock('2026-11-01T00:00:00Z') },
  ],
})
class Consumers {}

async function read(topic: string, group: string): Promise<ConsumedRecord[]> {
  const seen: ConsumedRecord[] = [];
  const consumer = await log.consume({
    topics: [topic],
    group,
    maxBatch: 10,
    lingerMs: 0,
    handler: async (batch) => void seen.push(...batch),
  });
  await eventually(() => seen.length > 0);
  await consumer.stop();
  return seen;
}

describe('EventLogTransport', () => {
  it('gives each service whole batches of a topic, again where it failed, until it is closed', async () => {
    const app = await NestFactory.create(Consumers, new FastifyAdapter(), {
      logger: false,
      abortOnError: false,
    });
    await app.init();
    const connected = await connectEventLog(app);
    failures = 2;
    const values = ['1', 'x', '3', '4', 'new'];
    await log.append(
      TOPIC.usage,
      values.map((value) => ({ key: 'acct_1', value })),
    );
    await eventually(() => batches.length === 2 && others.length === 5);
    expect(batches).toEqual([
      ['1', 'x', '3'],
      ['4', 'new'],
    ]);
    expect(others).toEqual(values);

    const [letter] = await read(deadLetterTopic(TOPIC.usage), 'reader');
    expect(letter.key).toBe('acct_1');
    expect(JSON.parse(letter.value)).toMatchObject({
      specversion: '1.0',
      source: '/usage',
      type: 'gateway.usage.v1.dlq',
      time: '2026-11-01T00:00:00.000Z',
      data: { service: 'usage', reason: 'It is an x.', topic: TOPIC.usage, offset: '1', value: 'x' },
    });
    expect(letter.offset).toBe('0');
    await eventually(async () => (await metrics.registry.metrics()).includes('outcome="unknown"} 1'));
    const text = await metrics.registry.metrics();
    expect(text).toContain(
      'gateway_consumed_records_total{service="usage",topic="gateway.usage.v1",outcome="handled"} 3',
    );
    expect(text).toContain(
      'gateway_consumed_records_total{service="usage",topic="gateway.usage.v1",outcome="dead"} 1',
    );
    expect(text).toMatch(
      /gateway_consumed_offset\{service="usage",topic="gateway.usage.v1",partition="\d"\} 4\n/,
    );

    await connected.close();
    await app.close();
    await log.append(TOPIC.usage, [{ key: 'acct_1', value: '5' }]);
    expect((await read(TOPIC.usage, `usage.${TOPIC.usage}`)).map(({ value }) => value)).toEqual(['5']);
    expect(batches).toHaveLength(2);
    metrics.onApplicationShutdown();
    await log.close();
  });

  it('refuses a pattern that names no topic of the fleet', async () => {
    const fresh = new Metrics();
    @Controller()
    class Misspelt {
      @EventPattern({ topic: 'gateway.usages.v1', group: 'usage' })
      see(): void {
        return undefined;
      }
    }
    @Module({
      controllers: [Misspelt],
      providers: [
        { provide: EventLog, useValue: log },
        { provide: Metrics, useValue: fresh },
        { provide: CLOCK, useValue: fixedClock('2026-11-01T00:00:00Z') },
      ],
    })
    class MisspeltModule {}
    const app = await NestFactory.create(MisspeltModule, new FastifyAdapter(), { logger: false });
    await app.init();
    await expect(connectEventLog(app)).rejects.toThrow('gateway.usages.v1');
    await app.close();
    fresh.onApplicationShutdown();
  });
});
