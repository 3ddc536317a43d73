import type { ServerResponse } from 'node:http';
import type { NewAccountEvent } from '@gateway/contracts';
import { eventually } from '@gateway/testing';
import { Housekeeping } from './background/housekeeping.js';
import {
  deliveriesOf,
  failNext,
  happen,
  HOUR,
  keyCreated,
  MINUTE,
  SECOND,
  signedBy,
} from './deliveries.fixture.js';
import { START, startOnOwnDatabase, type NotificationsApp, type Person } from './notifications.fixture.js';
import type { Received } from './webhook-receiver.fixture.js';

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

describe('a delivery', () => {
  it('EVT-01 EVT-02 HOOK-01 HOOK-04 HOOK-05 HOOK-06 HOOK-07 is a signed POST of the envelope', async () => {
    const { secret } = await app.channel(owner, 'api_key.created');
    const event = app.event(keyCreated(owner.orgId));
    await app.account(event);
    await app.deliver();
    const [received] = app.receiver.received;
    expect(received.event).toEqual({
      id: event.id,
      type: 'api_key.created',
      created_at: event.created_at,
      org_id: owner.orgId,
      data: keyCreated(owner.orgId).data,
    });
    expect(event.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(received.headers).toMatchObject({
      'content-type': 'application/json',
      'service-event-id': event.id,
      'service-delivery-id': expect.stringMatching(/^att_/),
      'service-event-type': 'api_key.created',
      'service-webhook-timestamp': String(Math.floor(app.clock.now() / 1_000)),
      'service-webhook-signature': signedBy(secret, received),
    });
  });

  it('EVT-03 ALERT-23 reaches the channels of its org that a policy names, each once', async () => {
    await app.channel(owner, 'api_key.created', 'api_key.created', 'api_key.revoked');
    await app.channel(owner, 'api_key.revoked');
    await app.channel(app.person(), 'api_key.created');
    await happen(app, owner.orgId);
    expect(app.receiver.received).toHaveLength(1);
  });

  it('ALERT-04 ALERT-09 ALERT-22 reaches no disabled channel and goes through no disabled or deleted policy', async () => {
    const channel = await app.channel(owner, 'api_key.created');
    const channels = `/alerts/channels/${channel.id}`;
    const policies = `/alerts/policies/${channel.policies[0]}`;
    await app.call('PATCH', channels, owner, { is_enabled: false });
    await happen(app, owner.orgId);
    await app.call('PATCH', channels, owner, { is_enabled: true });
    await app.call('PATCH', policies, owner, { is_enabled: false });
    await happen(app, owner.orgId);
    expect(app.receiver.received).toEqual([]);
    await app.call('PATCH', policies, owner, { is_enabled: true });
    await happen(app, owner.orgId);
    expect(app.receiver.received).toHaveLength(1);
    await app.call('DELETE', policies, owner);
    await happen(app, owner.orgId);
    expect(app.receiver.received).toHaveLength(1);
  });

  it('comes once though its record comes again, also to a channel that was added since', async () => {
    await app.channel(owner, 'api_key.created');
    const event = app.event(keyCreated(owner.orgId));
    await app.account(event, event);
    await app.deliver();
    await app.clock.advance(HOUR);
    await app.channel(owner, 'api_key.created');
    await app.account(event);
    await app.deliver();
    expect(app.receiver.received).toHaveLength(1);
  });

  it('sends nothing of what happened before its policy, though the topic is read again', async () => {
    const event = app.event(keyCreated(owner.orgId));
    await app.account(event);
    await app.clock.advance(MINUTE);
    await app.channel(owner, 'api_key.created');
    await app.account(event);
    await app.deliver();
    expect(app.receiver.received).toEqual([]);
  });

  it('of one open channel does not wait for another that is slow, at most five at a time', async () => {
    const slow = await app.channel(owner, 'api_key.created');
    const held: ServerResponse[] = [];
    app.receiver.answers.push(
      ...Array.from({ length: 5 }, () => (response: ServerResponse) => void held.push(response)),
    );
    for (let count = 0; count < 8; count += 1) await app.account(app.event(keyCreated(owner.orgId)));
    await app.dispatch.round();
    const other = app.person();
    await app.channel(other, 'api_key.created');
    await app.account(app.event(keyCreated(other.orgId)));
    await app.dispatch.round();
    const { rows } = await app.database.pool.query<{ channel_id: string; n: number }>(
      `SELECT channel_id, count(*)::int AS n FROM delivery WHERE status = 'sending' GROUP BY 1`,
    );
    expect(rows.find(({ channel_id }) => channel_id === slow.id)?.n).toBe(5);
    await eventually(() => held.length === 5 && app.receiver.received.length === 6);
    held.forEach((response) => response.writeHead(200).end());
    await app.dispatch.settled();
    await app.deliver();
    expect(app.receiver.received).toHaveLength(9);
  });
});

describe('secrets', () => {
  it('HOOK-08 HOOK-20 W03 sign with two terms for a day after a rotation, and with one afterwards', async () => {
    const { id, secret: first } = await app.channel(owner, 'api_key.created');
    const rotate = async (): Promise<string> =>
      (await app.call('POST', `/alerts/channels/${id}/rotate-secret`, owner)).body.signing_secret;
    const terms = async (): Promise<[Received, string[]]> => {
      await happen(app, owner.orgId);
      const received = app.receiver.received.at(-1) as Received;
      return [received, String(received.headers['service-webhook-signature']).split(',')];
    };
    const second = await rotate();
    let [received, found] = await terms();
    expect(found).toEqual([signedBy(second, received), signedBy(first, received)]);
    await app.clock.advance(24 * HOUR - 1);
    expect((await terms())[1]).toHaveLength(2);
    await app.clock.advance(1);
    [received, found] = await terms();
    expect(found).toEqual([signedBy(second, received)]);
  });

  it('W03 a second rotation within the grace ends the oldest', async () => {
    const { id } = await app.channel(owner, 'api_key.created');
    const rotate = async (): Promise<string> =>
      (await app.call('POST', `/alerts/channels/${id}/rotate-secret`, owner)).body.signing_secret;
    const [second, third] = [await rotate(), await rotate()];
    await happen(app, owner.orgId);
    const [received] = app.receiver.received;
    expect(received.headers['service-webhook-signature']).toBe(
      [signedBy(third, received), signedBy(second, received)].join(','),
    );
  });
});

describe('the log', () => {
  it('ALERT-24 lists by channel, event, status and time, page by page, and shows request and answer', async () => {
    const first = await app.channel(owner, 'api_key.created');
    const second = await app.channel(owner, 'api_key.revoked');
    app.receiver.answers.push((response) => {
      response.writeHead(200, { 'content-type': 'text/plain', 'set-cookie': 'a=b' });
      response.end(`Authorization: Bearer sk-proj-${'a1B2c3D4'.repeat(5)} ${'y'.repeat(20_000)}`);
    });
    await happen(app, owner.orgId);
    await app.clock.advance(HOUR);
    await app.account(app.event({ ...keyCreated(owner.orgId), type: 'api_key.revoked' } as NewAccountEvent));
    failNext(app, 1);
    await app.deliver();
    const ids = async (query: string) =>
      (await deliveriesOf(app, owner, query)).map(({ channel_id }) => channel_id);
    expect(await ids('')).toEqual([second.id, first.id]);
    expect(await ids(`?channel_id=${first.id}`)).toEqual([first.id]);
    expect(await ids('?event_type=api_key.revoked')).toEqual([second.id]);
    expect(await ids('?status=retrying')).toEqual([second.id]);
    const now = new Date(app.clock.now()).toISOString();
    expect(await ids(`?since=${now}`)).toEqual([second.id]);
    expect(await ids(`?until=${new Date(app.clock.now() - HOUR).toISOString()}`)).toEqual([first.id]);
    expect(await ids('?limit=1&offset=1')).toEqual([first.id]);
    const page = await app.call('GET', '/alerts/deliveries?limit=1', owner);
    expect(page.body).toMatchObject({ total: 2, limit: 1, offset: 0 });
    const swapped = await app.call('GET', '/alerts/deliveries?since=2026-11-02&until=2026-11-01', owner);
    expect([swapped.status, swapped.body.error.code]).toEqual([400, 'bad_request']);
    const oddTimes = ['since=2026-W47', 'until=2026-W47', 'since=20261120T100000Z', 'until=2026-325'];
    for (const wrong of ['limit=201', 'status=lost', 'event_type=x', 'since=yesterday', ...oddTimes])
      expect([wrong, (await app.call('GET', `/alerts/deliveries?${wrong}`, owner)).status]).toEqual([
        wrong,
        422,
      ]);

    const [row] = await deliveriesOf(app, owner, '?status=delivered');
    const shown = await detail(row.id);
    const [attempt] = shown.attempt_log;
    expect(shown.request_body).toBe(app.receiver.received[0].body);
    expect(attempt).toMatchObject({ status: 'delivered', http_status: 200, destination: app.receiver.url });
    expect(attempt.request.headers['Service-Delivery-Id']).toBe(attempt.id);
    expect(attempt.response.is_cut).toBe(true);
    expect(attempt.response.body.length).toBeLessThanOrEqual(16_384);
    expect(attempt.response.body).not.toContain('sk-proj-a1B2');
    expect(attempt.response.headers).not.toHaveProperty('set-cookie');
    expect((await detail(attempt.id)).id).toBe(row.id);
  });

  it('ALERT-25 HOOK-02 HOOK-16 sends any delivery again: the same event, another delivery id', async () => {
    await app.channel(owner, 'api_key.created');
    await happen(app, owner.orgId);
    const [first] = app.receiver.received;
    const again = async (id: unknown) =>
      app.call('POST', `/alerts/deliveries/${String(id)}/redeliver`, owner);
    const answer = await again(first.headers['service-delivery-id']);
    expect([answer.status, answer.body.status, answer.body.event_id]).toEqual([
      202,
      'pending',
      first.event.id,
    ]);
    await app.deliver();
    const second = app.receiver.received[1];
    expect(second.body).toBe(first.body);
    expect(second.headers['service-event-id']).toBe(first.headers['service-event-id']);
    expect(second.headers['service-delivery-id']).not.toBe(first.headers['service-delivery-id']);
    failNext(app, 1);
    await app.clock.advance(SECOND);
    await again(answer.body.id);
    await app.deliver();
    const [last] = await deliveriesOf(app, owner);
    expect(last).toMatchObject({
      status: 'exhausted',
      redelivery_of: (await deliveriesOf(app, owner)).find((row) => row.redelivery_of === null)?.id,
    });
    expect(
      (await app.call('POST', `/alerts/deliveries/${String(last.id)}/redeliver`, app.person())).status,
    ).toBe(404);
    expect((await app.call('GET', `/alerts/deliveries/${String(last.id)}`, app.person())).status).toBe(404);
  });

  it('ALERT-26 POST test sends channel.test to this channel alone', async () => {
    const { id, secret } = await app.channel(owner);
    await app.channel(owner, 'api_key.created');
    expect((await app.call('POST', `/alerts/channels/${id}/test`, owner)).status).toBe(202);
    await app.deliver();
    expect(app.receiver.received).toHaveLength(1);
    const [received] = app.receiver.received;
    expect(received.event).toMatchObject({
      type: 'channel.test',
      org_id: owner.orgId,
      data: { channel_id: id },
    });
    expect(received.headers['service-webhook-signature']).toBe(signedBy(secret, received));
    expect((await deliveriesOf(app, owner, '?event_type=channel.test'))[0]).toMatchObject({
      status: 'delivered',
    });
    await app.call('PATCH', `/alerts/channels/${id}`, owner, { is_enabled: false });
    expect((await app.call('POST', `/alerts/channels/${id}/test`, owner)).status).toBe(409);
  });

  it('ALERT-19 W13 DELETE of a channel takes its policies and history with it', async () => {
    const { id } = await app.channel(owner, 'api_key.created');
    await happen(app, owner.orgId);
    const [row] = await deliveriesOf(app, owner);
    expect((await app.call('DELETE', `/alerts/channels/${id}`, owner)).status).toBe(204);
    expect((await app.call('GET', '/alerts', owner)).body).toEqual({ channels: [], policies: [] });
    expect(await deliveriesOf(app, owner)).toEqual([]);
    expect((await app.call('GET', `/alerts/deliveries/${String(row.id)}`, owner)).status).toBe(404);
    await happen(app, owner.orgId);
    expect(app.receiver.received).toHaveLength(1);
  });

  it('is kept for 90 days', async () => {
    await app.channel(owner, 'api_key.created');
    await happen(app, owner.orgId);
    const sweep = () => app.app.get(Housekeeping, { strict: false }).sweep();
    await app.clock.advance(89 * 24 * HOUR);
    await sweep();
    expect(await deliveriesOf(app, owner)).toHaveLength(1);
    await app.clock.advance(2 * 24 * HOUR);
    await sweep();
    expect(await deliveriesOf(app, owner)).toEqual([]);
    app.clock.step(START);
  });
});
