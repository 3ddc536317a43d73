import { createHash } from 'node:crypto';
import { eventually, ownRedis, testRedis } from '@gateway/testing';
import { Redis } from 'ioredis';
import { SystemClock } from '@gateway/platform';
import { IoredisScriptRunner } from './script-runner.js';

const OPTIONS = {
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  retryStrategy: () => 50,
} as const;

function script(lua: string) {
  return { name: 'test', sha: createHash('sha1').update(lua).digest('hex'), lua };
}

describe('IoredisScriptRunner', () => {
  it('runs a script that the server has never seen, and again after SCRIPT FLUSH', async () => {
    const database = await testRedis();
    const client = new Redis(database.url, OPTIONS);
    const runner = new IoredisScriptRunner(client, new SystemClock());
    await eventually(() => runner.runId());
    const joined = script(`return KEYS[1] .. ARGV[1] .. '${process.pid}'`);
    expect(await runner.run(joined, ['k'], [Buffer.from('v')])).toBe(`kv${process.pid}`);
    await client.script('FLUSH');
    expect(await runner.run(joined, ['k'], ['w'])).toBe(`kw${process.pid}`);
    await expect(runner.run(script('return redis.error_reply("broken")'), ['k'], [])).rejects.toThrow(
      'broken',
    );
    client.disconnect();
    await database.drop();
  });

  it('R04 forgets the run id with the connection and learns the next node’s', async () => {
    const server = await ownRedis();
    const client = new Redis(server.address, OPTIONS);
    client.on('error', () => undefined); // The connection breaks on purpose.
    const runner = new IoredisScriptRunner(client, new SystemClock());
    expect(() => runner.runId()).toThrow('not connected');
    const first = await eventually(() => runner.runId());
    expect(first).toMatch(/^[0-9a-f]{40}$/);
    server.kill();
    await eventually(() => expect(() => runner.runId()).toThrow('not connected') === undefined);
    await server.restart();
    expect(await eventually(() => runner.runId())).not.toBe(first);
    client.disconnect();
    await server.drop();
  });
});
