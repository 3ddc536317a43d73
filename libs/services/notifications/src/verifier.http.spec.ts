import { createHash } from 'node:crypto';
import { testDatabase, type TestDatabase } from '@gateway/testing';
import { failNext, happen, MINUTE, SECOND } from './deliveries.fixture.js';
import { signatureOf } from './deliveries/signature.js';
import {
  MIGRATED,
  startNotificationsApp,
  type NotificationsApp,
  type Person,
} from './notifications.fixture.js';
import { verdicts, type Asked } from './verifier.fixture.js';
import type { Received } from './webhook-receiver.fixture.js';

describe('the signature', () => {
  it('W01 is what this vector says', () => {
    // printf '1700000000.{"a":1}' | openssl dgst -sha256 -hmac whsec_test
    const expected = 'v1=38877139021993b830af32feea6e18a8da83eb2f6e49ee50bd9e4cf4ca4d3789';
    expect(signatureOf(['whsec_test'], 1_700_000_000, '{"a":1}')).toBe(expected);
  });
});

describe('an independent verifier', () => {
  let database: TestDatabase;
  let app: NotificationsApp;
  let owner: Person;

  beforeAll(async () => {
    database = await testDatabase(MIGRATED);
    app = await startNotificationsApp(database.url);
    owner = app.person();
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });
  const asked = ({ headers, body }: Received, secrets: string[], now: number): Asked => ({
    secrets,
    headers,
    body,
    now,
  });

  it('HOOK-07 HOOK-09 HOOK-10 W02 accepts every delivery: first ones, retries, both secrets of a rotation', async () => {
    const { id, secret: first } = await app.channel(owner, 'api_key.created');
    const deliveries: Asked[] = [];
    const take = (...secrets: string[]): void => {
      for (const received of app.receiver.received.splice(0))
        deliveries.push(asked(received, secrets, app.clock.now() / SECOND));
    };
    await happen(app, owner.orgId);
    take(first);
    failNext(app, 1);
    await happen(app, owner.orgId);
    take(first);
    await app.clock.advance(10 * MINUTE);
    await app.deliver();
    take(first);
    const second = (await app.call('POST', `/alerts/channels/${id}/rotate-secret`, owner)).body
      .signing_secret as string;
    await happen(app, owner.orgId);
    const [rotated] = app.receiver.received;
    deliveries.push(asked(rotated, [first], app.clock.now() / SECOND));
    take(second);
    expect(verdicts(...deliveries)).toEqual(deliveries.map(() => 'valid'));
    expect(deliveries).toHaveLength(5);
  });

  it('HOOK-09 HOOK-10 W02 refuses a changed byte, another secret, and a clock more than five minutes off', async () => {
    app.receiver.received.length = 0;
    const { secret } = await app.channel(app.person(), 'api_key.created');
    const person = app.person();
    const channel = await app.channel(person, 'api_key.created');
    await happen(app, person.orgId);
    const [received] = app.receiver.received;
    const sent = Number(received.headers['service-webhook-timestamp']);
    const good = asked(received, [channel.secret], sent);
    const flipped = Buffer.from(received.body);
    flipped[createHash('sha256').update(received.body).digest()[0] % flipped.length] ^= 1;
    expect(
      verdicts(
        good,
        { ...good, now: sent + 300 },
        { ...good, now: sent + 301 },
        { ...good, now: sent - 301 },
        { ...good, body: flipped.toString('latin1') },
        { ...good, secrets: [secret] },
        { ...good, headers: { ...good.headers, 'service-webhook-timestamp': String(sent + 1) } },
        { ...good, headers: { ...good.headers, 'service-webhook-signature': 'v1=' } },
        { ...good, headers: {} },
      ),
    ).toEqual(['valid', 'valid', ...Array.from({ length: 7 }, () => 'invalid')]);
  });
});
