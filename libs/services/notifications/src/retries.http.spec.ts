import {
  answering,
  deliveriesOf,
  failNext,
  happen,
  HOUR,
  keyCreated,
  MINUTE,
  SECOND,
  signedBy,
} from './deliveries.fixture.js';
import { ClosedChannels } from './background/closed-channels.js';
import { ClaimsStore } from './deliveries/claims.store.js';
import { OutcomesStore } from './deliveries/outcomes.store.js';
import { startOnOwnDatabase, type NotificationsApp, type Person } from './notifications.fixture.js';

/** Pauses between the ten attempts. */
const PAUSES = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR)];

let app: NotificationsApp;
let owner: Person;

beforeAll(async () => {
  app = await startOnOwnDatabase();
});
afterAll(() => app.close());
beforeEach(() => {
  owner = app.person();
  app.receiver.received.length = 0;
  app.receiver.answers.length = 0;
});

const detail = async (id: unknown) => (await app.call('GET', `/alerts/deliveries/${String(id)}`, owner)).body;
const channelRow = async (id: string) =>
  (await app.call('GET', '/alerts', owner)).body.channels.find((row: { id: string }) => row.id === id);

describe('the list of channels', () => {
  it('says how the newest attempt of each ended, a test by hand too, and since when its events fail', async () => {
    const { id } = await app.channel(owner, 'api_key.created');
    const unused = await app.channel(owner, 'api_key.created');
    await app.call('PATCH', `/alerts/channels/${unused.id}`, owner, { is_enabled: false });
    expect(await channelRow(id)).toMatchObject({ last_result: null, failing_since: null });
    failNext(app, 1);
    await happen(app, owner.orgId);
    const [failed] = await deliveriesOf(app, owner);
    const failedAt = new Date(app.clock.now()).toISOString();
    const result = { delivery_id: failed.id, is_delivered: false, http_status: 500, at: failedAt };
    expect(await channelRow(id)).toMatchObject({ last_result: result, failing_since: failedAt });
    await app.clock.advance(SECOND);
    await app.call('POST', `/alerts/channels/${id}/test`, owner);
    await app.deliver();
    expect(await channelRow(id)).toMatchObject({
      last_result: { is_delivered: true, http_status: 200, error: null },
      failing_since: failedAt,
    });
    await app.clock.advance(6 * SECOND);
    await app.deliver();
    expect(await channelRow(id)).toMatchObject({
      last_result: { delivery_id: failed.id, is_delivered: true },
      failing_since: null,
    });
    expect(await channelRow(unused.id)).toMatchObject({ last_result: null, failing_since: null });
  });
});

describe('retries', () => {
  it('HOOK-03 HOOK-10 HOOK-14 HOOK-15 HOOK-19 W10 come on their schedule, stamped fresh, and end', async () => {
    const { secret } = await app.channel(owner, 'api_key.created');
    failNext(app, 11);
    await happen(app, owner.orgId);
    for (const [at, pause] of PAUSES.entries()) {
      await app.clock.advance(pause * 0.79);
      await app.deliver();
      expect([at, app.receiver.received.length]).toEqual([at, at + 1]);
      await app.clock.advance(pause * 0.42);
      await app.deliver();
      expect([at, app.receiver.received.length]).toEqual([at, at + 2]);
      const received = app.receiver.received[at + 1];
      expect(received.headers['service-webhook-timestamp']).toBe(String(Math.floor(app.clock.now() / 1_000)));
      expect(received.headers['service-webhook-signature']).toBe(signedBy(secret, received));
    }
    const { received } = app.receiver;
    expect(new Set(received.map(({ headers }) => headers['service-event-id'])).size).toBe(1);
    expect(new Set(received.map(({ headers }) => headers['service-delivery-id'])).size).toBe(10);
    expect(new Set(received.map(({ body }) => body)).size).toBe(1);
    await app.clock.advance(100 * HOUR);
    await app.deliver();
    expect(received).toHaveLength(10);
    const [row] = await deliveriesOf(app, owner);
    expect(row).toMatchObject({ status: 'exhausted', attempts: 10, http_status: 500, next_attempt_at: null });
    const log = (await detail(row.id)).attempt_log as Record<string, unknown>[];
    expect(log.map(({ status, n }) => [status, n])).toEqual(
      Array.from({ length: 10 }, (_, at) => ['failed', at + 1]),
    );
    expect(log.map(({ id }) => id)).toEqual(received.map(({ headers }) => headers['service-delivery-id']));
  });

  it('honours Retry-After between the pause and twice of it', async () => {
    await app.channel(owner, 'api_key.created');
    for (const [asked, fromMs, toMs] of [
      ['1', 4_000, 6_000],
      ['7', 7_000, 7_000],
      ['3600', 8_000, 12_000],
    ] as const) {
      app.receiver.answers.push(answering(503, { 'retry-after': asked }));
      await happen(app, owner.orgId);
      const [row] = await deliveriesOf(app, owner);
      const waitMs = Date.parse(String(row.next_attempt_at)) - app.clock.now();
      expect([asked, waitMs >= fromMs, waitMs <= toMs]).toEqual([asked, true, true]);
      expect(row.status).toBe('retrying');
      await app.clock.advance(MINUTE);
      await app.deliver();
    }
  });

  it('a receiver that cannot be reached, or redirects, is retried; a delivery that succeeds then is over', async () => {
    await app.channel(owner, 'api_key.created');
    app.receiver.answers.push(
      (response) => void response.destroy(),
      answering(302, { location: '/elsewhere' }),
    );
    await happen(app, owner.orgId);
    expect((await deliveriesOf(app, owner))[0]).toMatchObject({ status: 'retrying', http_status: null });
    await app.clock.advance(6 * SECOND);
    await app.deliver();
    expect((await deliveriesOf(app, owner))[0]).toMatchObject({ status: 'retrying', http_status: 302 });
    await app.clock.advance(6 * MINUTE);
    await app.deliver();
    expect((await deliveriesOf(app, owner))[0]).toMatchObject({
      status: 'delivered',
      http_status: 200,
      attempts: 3,
    });
    expect(app.receiver.received.map(({ path }) => path)).toEqual(['/hook', '/hook', '/hook']);
  });

  it('W09 an attempt whose process dies is made again, as the same event', async () => {
    await app.channel(owner, 'api_key.created');
    await app.account(app.event(keyCreated(owner.orgId)));
    // What a process holds that dies after its claim.
    const [lost] = await app.app.get(ClaimsStore, { strict: false }).claim(1);
    await app.deliver();
    expect(app.receiver.received).toEqual([]);
    await app.clock.advance(61 * SECOND);
    await app.deliver();
    expect(app.receiver.received.map(({ event }) => event.id)).toEqual([lost.eventId]);
    const [row] = await deliveriesOf(app, owner);
    expect((await detail(row.id)).attempt_log.map(({ status }: { status: string }) => status)).toEqual([
      'lost',
      'delivered',
    ]);
  });

  it('W09 who has lost its lease writes no outcome', async () => {
    await app.channel(owner, 'api_key.created');
    await app.account(app.event(keyCreated(owner.orgId)));
    const [late] = await app.app.get(ClaimsStore, { strict: false }).claim(1);
    await app.clock.advance(61 * SECOND);
    await app.deliver();
    await app.app
      .get(OutcomesStore, { strict: false })
      .end(late, { kind: 'blocked', error: 'from long ago' });
    expect((await deliveriesOf(app, owner))[0]).toMatchObject({ status: 'delivered', error: null });
  });
});

describe('channels that fail', () => {
  it('ALERT-29 W11 are disabled after five days of failures only, not by redelivery or tests', async () => {
    const { id } = await app.channel(owner, 'api_key.created');
    failNext(app, 100);
    await happen(app, owner.orgId);
    const [row] = await deliveriesOf(app, owner);
    for (let days = 0; days < 4; days += 1) {
      await app.clock.advance(24 * HOUR);
      await happen(app, owner.orgId);
    }
    expect((await channelRow(id)).is_enabled).toBe(true);
    await app.clock.advance(24 * HOUR);
    await app.call('POST', `/alerts/deliveries/${String(row.id)}/redeliver`, owner);
    await app.call('POST', `/alerts/channels/${id}/test`, owner);
    await app.database.pool.query(`UPDATE delivery SET next_at = NULL WHERE status = 'retrying'`);
    await app.deliver();
    expect((await channelRow(id)).is_enabled).toBe(true);
    await happen(app, owner.orgId);
    expect(await channelRow(id)).toMatchObject({ is_enabled: false, disabled_reason: 'failing' });
    app.mailer.isUnavailable = true;
    const closed = app.app.get(ClosedChannels, { strict: false });
    await expect(closed.notifyAll()).rejects.toThrow('away');
    app.mailer.isUnavailable = false;
    await Promise.all([closed.notifyAll(), closed.notifyAll()]);
    expect(app.mailer.sent.map(({ to }) => to)).toEqual([`owner@${owner.orgId.replace('_', '-')}.example`]);
    expect(app.mailer.sent[0].text).toContain(id);
    app.receiver.answers.length = 0;
    const enabled = await app.call('PATCH', `/alerts/channels/${id}`, owner, { is_enabled: true });
    expect(enabled.body.disabled_reason).toBeNull();
    failNext(app, 1);
    await happen(app, owner.orgId);
    expect((await channelRow(id)).is_enabled).toBe(true);
  });

  it('W11 one success in between begins the five days anew', async () => {
    const { id } = await app.channel(owner, 'api_key.created');
    failNext(app, 1);
    await happen(app, owner.orgId);
    await app.clock.advance(100 * HOUR);
    await app.deliver();
    await app.clock.advance(100 * HOUR);
    failNext(app, 1);
    await happen(app, owner.orgId);
    expect((await channelRow(id)).is_enabled).toBe(true);
  });

  it('W11 410 disables at once, and what is open is cancelled', async () => {
    const { id } = await app.channel(owner, 'api_key.created');
    failNext(app, 1);
    await happen(app, owner.orgId);
    failNext(app, 1, 410);
    await happen(app, owner.orgId);
    expect(await channelRow(id)).toMatchObject({ is_enabled: false, disabled_reason: 'gone' });
    expect((await deliveriesOf(app, owner)).map(({ status }) => status).sort()).toEqual([
      'cancelled',
      'exhausted',
    ]);
  });

  it('W11 an owner whose mailbox takes nothing keeps no other from hearing of a channel', async () => {
    const other = app.person();
    const people = [owner, other];
    const addressOf = ({ orgId }: Person): string => `owner@${orgId.replace('_', '-')}.example`;
    for (const person of people) {
      await app.channel(person, 'api_key.created');
      failNext(app, 1, 410);
      await happen(app, person.orgId);
    }
    app.mailer.refusing.add(addressOf(owner));
    const closed = app.app.get(ClosedChannels, { strict: false });
    const addresses = people.map(addressOf);
    const sentTo = (): string[] => app.mailer.sent.flatMap(({ to }) => (addresses.includes(to) ? [to] : []));
    for (let round = 0; round < 2; round += 1)
      await expect(closed.notifyAll()).rejects.toThrow('The mailbox is unavailable.');
    expect(sentTo()).toEqual([addressOf(other)]);
    app.mailer.refusing.clear();
    await closed.notifyAll();
    expect(sentTo()).toEqual([addressOf(other), addressOf(owner)]);
  });

  it('ALERT-28 HOOK-13 a destination that has moved inside is blocked, without a retry', async () => {
    const { id } = await app.channel(owner, 'api_key.created');
    await app.database.pool.query('UPDATE channel SET destination = $2 WHERE id = $1', [
      id,
      'http://10.0.0.1/',
    ]);
    await happen(app, owner.orgId);
    await app.clock.advance(HOUR);
    await app.deliver();
    const [row] = await deliveriesOf(app, owner);
    expect(row).toMatchObject({ status: 'blocked', attempts: 1, error: expect.stringContaining('public') });
    await app.database.pool.query('UPDATE channel SET destination = $2 WHERE id = $1', [
      id,
      app.receiver.url,
    ]);
    await happen(app, owner.orgId);
    expect((await deliveriesOf(app, owner))[0].status).toBe('delivered');
  });
});
