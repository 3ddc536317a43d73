import { Module } from '@nestjs/common';
import { deadLetterTopic, PrincipalReader, TOPIC, type Subscription } from '@gateway/contracts';
import { connectEventLog, InProcessEventLog } from '@gateway/event-log';
import { bootstrap, PlatformModule, SystemClock, SystemRandom } from '@gateway/platform';
import { eventually, LimitStoreDouble, PrincipalReaderDouble } from '@gateway/testing';
import { WorkersModule } from './workers.module.js';

const NO_LIMIT = { some: Infinity, all: Infinity };
const pressure = { delayMs: NO_LIMIT, rssBytes: NO_LIMIT, bodyBytes: NO_LIMIT };

describe('the workers service', () => {
  it('is ready, has no endpoint of its own, and consumes the account topic', async () => {
    const log = new InProcessEventLog({ clock: new SystemClock(), random: new SystemRandom() });
    const platform = PlatformModule.with({
      service: 'workers',
      logLevel: 'silent',
      fleetToken: 'fleet-token-of-the-spec',
      eventLog: () => log,
      limitStore: ({ clock, random }) => new LimitStoreDouble({ clock, random }),
    });
    class Root {}
    Module({
      imports: [platform, WorkersModule],
      providers: [{ provide: PrincipalReader, useValue: new PrincipalReaderDouble() }],
    })(Root);
    const app = await bootstrap({
      name: 'workers',
      module: Root,
      config: { host: '127.0.0.1', port: 0, drainGraceMs: 1_000, pressure },
      connect: connectEventLog,
    });
    for (const path of ['/healthz', '/readyz']) expect((await fetch(`${app.url}${path}`)).status).toBe(200);
    expect(app.routes.filter(({ access }) => access.public !== true)).toEqual([]);

    const letters: string[] = [];
    const handler: Subscription['handler'] = async (batch) =>
      void letters.push(...batch.map(({ value }) => value));
    const topics = [deadLetterTopic(TOPIC.account)];
    await log.consume({ topics, group: 'reader', maxBatch: 10, lingerMs: 0, handler });
    await log.append(TOPIC.account, [{ key: 'acct_1', value: 'no event' }]);
    await eventually(() => letters.length === 1);
    expect(JSON.parse(letters[0])).toMatchObject({ data: { service: 'workers', value: 'no event' } });
    await app.close();
  });
});
