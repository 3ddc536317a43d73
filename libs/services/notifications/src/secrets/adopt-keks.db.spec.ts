import { dyingRandom, fixedClock, seededRandom, testDatabase, type TestDatabase } from '@gateway/testing';
import type { Prisma } from '../generated/prisma/client.js';
import { MIGRATED, START } from '../notifications.fixture.js';
import { NotificationsDatabase, type Tx } from '../postgres/notifications-database.js';
import { adoptKeks } from './adopt-keks.js';
import type { Keks } from './key-encryption.js';
import { SigningSecrets } from './signing-secrets.js';

const random = seededRandom(1);
const [former, next, foreign] = [1, 2, 3].map((fill) => Buffer.alloc(32, fill));
/** More than a batch. */
const CHANNELS = 120;

let testing: TestDatabase;
let database: NotificationsDatabase;
const returned = new Map<string, string>();

beforeAll(async () => {
  testing = await testDatabase(MIGRATED);
  database = new NotificationsDatabase({
    url: testing.url,
    maxConnections: 2,
    statementTimeoutMs: 5_000,
    onIdleError: () => undefined,
  });
  await adoptKeks(database.prisma, [former], random);
  for (let n = 0; n < CHANNELS; n += 1) {
    const id = `ch_${n}`;
    const at = new Date(START);
    await database.prisma.channel.create({
      data: {
        id,
        org_id: 'org_1',
        channel_type: 'webhook',
        destination: 'x',
        host: 'x',
        is_enabled: true,
        enabled_at: at,
        created_at: at,
        updated_at: at,
      },
    });
    returned.set(id, await secretsBy([former]).create(database.prisma, id));
  }
});
afterAll(async () => {
  await database?.onApplicationShutdown();
  await testing?.drop();
});

const secretsBy = (keks: Keks): SigningSecrets =>
  new SigningSecrets(database, keks, fixedClock(START), random);

/** Returns how many secrets these keys open to what was returned. */
async function readable(...keks: [Buffer, ...Buffer[]]): Promise<number> {
  let count = 0;
  for (const [id, secret] of returned) {
    const live = await secretsBy(keks)
      .live(id)
      .catch(() => []);
    if (live[0] === secret) count += 1;
  }
  return count;
}

describe('the key-encryption key of signing secrets', () => {
  it('S03 another one than the database’s ends a start, and says what to restore', async () => {
    await adoptKeks(database.prisma, [former], random);
    await expect(adoptKeks(database.prisma, [next], random)).rejects.toThrow(
      /NOTIFICATIONS_KEK is not .*: restore it, or the file that NOTIFICATIONS_SECRETS_FILE names .* from a backup/,
    );
    expect(await readable(former)).toBe(CHANNELS);
  });

  it('S03 one that every replica can open already changes nothing before it is the first', async () => {
    await adoptKeks(database.prisma, [former, next], random);
    expect(await readable(former)).toBe(CHANNELS);
  });

  it('S03 a start that is killed leaves every secret readable by both, and the next one does the rest', async () => {
    await expect(adoptKeks(database.prisma, [next, former], dyingRandom(random, 50))).rejects.toThrow(
      'killed',
    );
    expect(await readable(next, former)).toBe(CHANNELS);
    expect(await readable(next)).toBeGreaterThan(0);
    expect(await readable(former)).toBeGreaterThan(0);
    await expect(adoptKeks(database.prisma, [next], random)).rejects.toThrow(/NOTIFICATIONS_KEK is not/);
    await adoptKeks(database.prisma, [next, former], random);
    expect(await readable(next)).toBe(CHANNELS);
  });

  it('S03 a start beside one with the keys in the other order ends, and leaves every secret readable by both', async () => {
    const { kekCheck, signingSecret } = database.prisma;
    let moved = 0;
    // The other start is as fast as this one: what this one moves it puts back at once.
    const updateMany = async (args: Prisma.SigningSecretUpdateManyArgs): Promise<Prisma.BatchPayload> => {
      if ((moved += 1) > 10 * CHANNELS) throw new Error('it would go on for ever');
      const row = await signingSecret.findUniqueOrThrow({ where: { id: String(args.where?.id) } });
      const done = await signingSecret.updateMany(args);
      await signingSecret.update({
        where: { id: row.id },
        data: { wrapped_key: row.wrapped_key, kek_id: row.kek_id },
      });
      return done;
    };
    const beside = {
      kekCheck,
      signingSecret: {
        findFirst: signingSecret.findFirst.bind(signingSecret),
        findMany: signingSecret.findMany.bind(signingSecret),
        updateMany,
      },
    };
    await adoptKeks(beside as unknown as Tx, [former, next], random);
    expect(moved).toBe(CHANNELS);
    expect(await readable(former, next)).toBe(CHANNELS);
    // The next start, which is alone, leaves nothing under the other one.
    await adoptKeks(database.prisma, [next, former], random);
    expect(await readable(next)).toBe(CHANNELS);
  });

  it('S03 the one before can be taken away then, and opens nothing any more', async () => {
    await adoptKeks(database.prisma, [next], random);
    expect(await readable(former)).toBe(0);
    await expect(adoptKeks(database.prisma, [former], random)).rejects.toThrow(/NOTIFICATIONS_KEK is not/);
  });

  it('S03 a secret that a replica sealed with a key that is not there ends a start', async () => {
    await secretsBy([foreign]).rotate(database.prisma, 'ch_0');
    await expect(adoptKeks(database.prisma, [next], random)).rejects.toThrow(
      'set that one as NOTIFICATIONS_KEK_PREVIOUS',
    );
  });
});
