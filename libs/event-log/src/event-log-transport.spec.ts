import { Controller, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { EventPattern, Payload } from '@nestjs/microservices';
import { EventLog, TOPIC, type ConsumedRecord } from '@gateway/contracts';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { eventually, seededRandom } from '@gateway/testing';
import { SystemClock } from '@gateway/platform';
import { connectEventLog } from './event-log-transport.js';
import { InProcessEventLog } from './in-process-event-log.js';

const batches: string[][] = [];
let failures = 0;

@Controller()
class UsageConsumer {
  @EventPattern(TOPIC.usage, { maxBatch: 3, lingerMs: 5 })
  async apply(@Payload() batch: ConsumedRecord[]): Promise<void> {
    if (failures > 0) {
      failures -= 1;
      throw new Error('The database is away.');
    }
    batches.push(batch.map((record) => record.value));
  }
}

const log = new InProcessEventLog({ clock: new SystemClock(), random: seededRandom(1) });

@Module({ controllers: [UsageConsumer], providers: [{ provide: EventLog, useValue: log }] })
class UsageConsumers {}

describe('EventLogTransport', () => {
  it('gives an @EventPattern method whole batches, again where it failed, until the application closes', async () => {
    const app = await NestFactory.create(UsageConsumers, new FastifyAdapter(), {
      logger: false,
      abortOnError: false,
    });
    await app.init();
    await connectEventLog(app, { group: 'usage' });
    failures = 2;
    await log.append(
      TOPIC.usage,
      ['1', '2', '3', '4'].map((value) => ({ key: 'acct_1', value })),
    );
    await eventually(() => batches.length === 2);
    expect(batches).toEqual([['1', '2', '3'], ['4']]);
    await app.close();
    await log.append(TOPIC.usage, [{ key: 'acct_1', value: '5' }]);
    const seen: string[] = [];
    await log.consume({
      topics: [TOPIC.usage],
      group: `usage.${TOPIC.usage}`,
      maxBatch: 10,
      lingerMs: 0,
      handler: async (batch) => void seen.push(...batch.map((record) => record.value)),
    });
    await eventually(() => seen.length === 1);
    expect(seen).toEqual(['5']);
    expect(batches).toHaveLength(2);
    await log.close();
  });
});
