import { createHash } from 'node:crypto';
import { eventually, ownRedis, testRedis } from '@gateway/testing';
import { Redis } from 'ioredis';
import { SystemClock } from '@gateway/platform';
import { RedisPipe } from './redis-pipe.js';

const OPTIONS = {
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  retryStrategy: () => 50,
} as const;

function script(lua: string) {
  return { name: 'test', sha: createHash('sha1').update(lua).digest('hex'), lua };
}

function pipeOver(client: Redis): RedisPipe {
  return new RedisPipe({ client, clock: new SystemClock(), timeoutMs: 5_000 });
}

function run(
  pipe: RedisPipe,
  which: ReturnType<typeof script>,
  args: string[],
  last: string[] = [],
): Promise<string> {
  return new Promise((resolve, reject) => {
    pipe.send(pipe.prepare(which, ['k'], last), args, (failure, answer) =>
      failure === null ? resolve(answer.toString('latin1')) : reject(failure),
    );
  });
}

describe('RedisPipe', () => {
  it('runs a script that the server has never seen, and again after SCRIPT FLUSH, many at once', async () => {
    const database = await testRedis();
    const client = new Redis(database.url, OPTIONS);
    const pipe = pipeOver(client);
    await eventually(() => pipe.nodeOf());
    const joined = script(`return KEYS[1] .. ARGV[1] .. ARGV[2] .. '${process.pid}'`);
    const many = Array.from({ length: 50 }, (_, n) => run(pipe, joined, [`v${n}`], [' last ']));
    expect(await Promise.all(many)).toEqual(many.map((_, n) => `kv${n} last ${process.pid}`));
    await client.script('FLUSH');
    expect(await run(pipe, joined, ['w'], ['.'])).toBe(`kw.${process.pid}`);
    await expect(run(pipe, script('return redis.error_reply("broken")'), [])).rejects.toThrow('broken');
    await expect(run(pipe, script('return 1'), [])).rejects.toThrow('other than a string');
    client.disconnect();
    await database.drop();
  });

  it('passes every byte on as it is, in arguments and answers of any size', async () => {
    const database = await testRedis();
    const client = new Redis(database.url, OPTIONS);
    const pipe = pipeOver(client);
    await eventually(() => pipe.nodeOf());
    const same = script('return ARGV[1]');
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, n) => n)).toString('latin1');
    for (const text of ['', bytes, bytes.repeat(4_000)]) expect(await run(pipe, same, [text])).toBe(text);
    client.disconnect();
    await database.drop();
  });

  it('R04 forgets the run id with the connection and learns the next node’s', async () => {
    const server = await ownRedis();
    const client = new Redis(server.address, OPTIONS);
    client.on('error', () => undefined); // The connection breaks on purpose.
    const pipe = pipeOver(client);
    expect(pipe.nodeOf()).toBeNull();
    const first = await eventually(() => pipe.nodeOf());
    expect(first).toMatch(/^[0-9a-f]{16}$/);
    server.freeze();
    const lost = run(pipe, script('return ARGV[1]'), ['v']);
    server.kill();
    await expect(lost).rejects.toThrow();
    await eventually(() => pipe.nodeOf() === null);
    await expect(run(pipe, script('return ARGV[1]'), ['v'])).rejects.toThrow('not asked');
    await server.restart();
    expect(await eventually(() => pipe.nodeOf())).not.toBe(first);
    client.disconnect();
    await server.drop();
  });
});
