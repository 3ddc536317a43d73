import { eventually } from '@gateway/testing';
import { deliveriesOf, happen, HOUR, MINUTE, SECOND } from './deliveries.fixture.js';
import { startOnOwnDatabase, type NotificationsApp, type Person } from './notifications.fixture.js';

let app: NotificationsApp;
let owner: Person;
let people = 0;
let address: string;

beforeAll(async () => {
  app = await startOnOwnDatabase();
});
afterAll(() => app.close());
beforeEach(() => {
  owner = app.person();
  people += 1;
  address = `person${people}@example.com`;
  app.mailer.sent.length = 0;
  app.mailer.isUnavailable = false;
});

const create = async (): Promise<{ id: string; verified_at: string | null }> => {
  const body = { channel_type: 'email', destination: address, is_enabled: true };
  const made = await app.call('POST', '/alerts/channels', owner, body);
  expect(made.status).toBe(201);
  await eventually(() => app.mailer.sent.length > 0);
  return made.body;
};
const verify = (id: string) => app.call('POST', `/alerts/channels/${id}/verify`, owner);
const token = (to = address): string =>
  /\/dashboard\/confirm#token=([\w-]+)/.exec(
    app.mailer.sent.findLast((mail) => mail.to === to)?.text ?? '',
  )?.[1] ?? '';
const confirm = (text: string) => app.call('POST', `/alerts/confirm?token=${text}`, null);
/** Returns the status of a link and its fault. */
const dead = async (text: string): Promise<[number, string]> => {
  const { status, body } = await confirm(text);
  return [status, body.error.details[0].type];
};
const verifiedAt = async (id: string): Promise<string | null> =>
  (await app.call('GET', '/alerts', owner)).body.channels.find((row: { id: string }) => row.id === id)
    .verified_at;
const subscribe = (channel_id: string, fields: object = { alert_type: 'api_key.created' }) =>
  app.call('POST', '/alerts/policies', owner, { channel_id, is_enabled: true, ...fields });
const confirmed = async (): Promise<string> => {
  const { id } = await create();
  expect((await confirm(token())).status).toBe(200);
  app.mailer.sent.length = 0;
  return id;
};

describe('an e-mail channel', () => {
  it('ALERT-03 422 for a URL or for what is no address', async () => {
    for (const destination of [
      app.receiver.url,
      'nobody',
      'a@',
      'a@example.com\r\nBcc: b@example.com',
      'a@b.c,d@e.f',
    ]) {
      const refused = await app.call('POST', '/alerts/channels', owner, {
        channel_type: 'email',
        destination,
      });
      expect([destination, refused.status]).toEqual([destination, 422]);
    }
  });

  it('ALERT-05 ALERT-06 HOOK-18 has no secret, is unconfirmed, and nobody but the mailbox has the token', async () => {
    const made = await app.call('POST', '/alerts/channels', owner, {
      channel_type: 'email',
      destination: address,
    });
    await eventually(() => token() !== '');
    const again = await verify(made.body.id);
    const listed = await app.call('GET', '/alerts', owner);
    expect(made.body).toMatchObject({ channel_type: 'email', verified_at: null });
    expect(made.body).not.toHaveProperty('signing_secret');
    for (const { text } of [made, again, listed]) expect(text).not.toContain(token());
    const rotated = await app.call('POST', `/alerts/channels/${made.body.id}/rotate-secret`, owner);
    expect(rotated.status).toBe(422);
    const { rows } = await app.database.pool.query('SELECT digest FROM confirmation WHERE digest = $1', [
      token(),
    ]);
    expect(rows).toEqual([]);
  });

  it('ALERT-27 ST-06 GET shows a page and confirms nothing, POST confirms', async () => {
    const { id } = await create();
    const page = await app.call('GET', `/alerts/confirm?token=${token()}`, null);
    expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.text).toContain('<form method="post">');
    expect(page.text).not.toContain(token());
    expect(page.headers['referrer-policy']).toBe('no-referrer');
    expect(await verifiedAt(id)).toBeNull();
    const done = await confirm(token());
    expect([done.status, done.body]).toEqual([200, { confirmed: true }]);
    expect(await verifiedAt(id)).toBe(new Date(app.clock.now()).toISOString());
  });

  it('a browser is answered pages, with the form as it sends it', async () => {
    await create();
    const post = () =>
      app.app.inject({
        method: 'POST',
        url: `/alerts/confirm?token=${token()}`,
        headers: { accept: 'text/html,*/*', 'content-type': 'application/x-www-form-urlencoded' },
        payload: '',
      });
    const [first, second] = [await post(), await post()];
    expect([first.statusCode, second.statusCode]).toEqual([200, 404]);
    expect(first.body).toContain('confirmed');
    expect(second.body).toContain('no longer works');
  });

  it('LIM-14 W14 a link works once, also of 50 at once', async () => {
    const { id } = await create();
    const link = token();
    const answers = await Promise.all(Array.from({ length: 50 }, () => confirm(link)));
    expect(answers.map(({ status }) => status).sort()).toEqual([
      200,
      ...Array.from({ length: 49 }, () => 404),
    ]);
    const at = await verifiedAt(id);
    await app.clock.advance(MINUTE);
    expect(await dead(link)).toEqual([404, 'link_used']);
    expect(await verifiedAt(id)).toBe(at);
  });

  it('LIM-15 ST-06 W14 a link ends after 24 hours', async () => {
    const { id } = await create();
    await app.clock.advance(24 * HOUR);
    expect(await dead(token())).toEqual([404, 'link_expired']);
    expect(await verifiedAt(id)).toBeNull();
    await verify(id);
    await eventually(() => app.mailer.sent.length === 2);
    await app.clock.advance(24 * HOUR - 1);
    expect((await confirm(token())).status).toBe(200);
  });

  it('ST-08 W14 verify mails a new link, voids the one before, and confirms nothing', async () => {
    const { id } = await create();
    const first = token();
    const answer = await verify(id);
    expect([answer.status, answer.body.verified_at]).toEqual([200, null]);
    await eventually(() => app.mailer.sent.length === 2);
    expect(await dead(first)).toEqual([404, 'link_replaced']);
    expect((await confirm(token())).status).toBe(200);
    expect(await dead(first)).toEqual([404, 'link_used']);
    expect((await verify(id)).status).toBe(200);
    expect(app.mailer.sent).toHaveLength(2);
  });

  it('404 for a link that nobody mailed, and for one of a channel that is gone', async () => {
    expect(await dead('made-up')).toEqual([404, 'link_unknown']);
    const { id } = await create();
    expect((await app.call('DELETE', `/alerts/channels/${id}`, owner)).status).toBe(204);
    expect(await dead(token())).toEqual([404, 'link_unknown']);
  });

  it('ST-08 AUTH-20 verify is 403 for a member, 422 for a webhook', async () => {
    const { id } = await create();
    const member = app.person('member', owner.orgId);
    expect((await app.call('POST', `/alerts/channels/${id}/verify`, member)).status).toBe(403);
    const webhook = await app.channel(owner);
    expect((await verify(webhook.id)).status).toBe(422);
  });

  it('mails five links an hour and answers the same; the last one works on', async () => {
    const { id } = await create();
    const answers = [];
    for (let count = 0; count < 8; count += 1) answers.push((await verify(id)).text);
    await eventually(() => app.mailer.sent.length === 5);
    expect(new Set(answers).size).toBe(1);
    const other = app.person();
    await app.call('POST', '/alerts/channels', other, { channel_type: 'email', destination: address });
    await app.clock.advance(SECOND);
    expect(app.mailer.sent).toHaveLength(5);
    expect((await confirm(token())).status).toBe(200);
  });

  it('mails five links an hour to one address, also for many organizations at once', async () => {
    const body = { channel_type: 'email', destination: address };
    const creates = Array.from({ length: 9 }, () => app.call('POST', '/alerts/channels', app.person(), body));
    expect((await Promise.all(creates)).map(({ status }) => status)).toEqual(creates.map(() => 201));
    await eventually(() => app.mailer.sent.length >= 5);
    await app.clock.advance(SECOND);
    expect(app.mailer.sent).toHaveLength(5);
  });

  it('409 conflict past 100 channels and past 1,000 policies, also of creates at once', async () => {
    const { id } = await create();
    const copy = (table: string, of: string, count: number) =>
      app.database.pool.query(
        `INSERT INTO ${table} SELECT r.* FROM ${table} t, generate_series(1, $2::int) AS n,
          LATERAL jsonb_populate_record(t, jsonb_build_object('id', t.id || n)) AS r WHERE t.id = $1`,
        [of, count],
      );
    await copy('policy', (await subscribe(id)).body.id, 998);
    await copy('channel', id, 98);
    const channel = { channel_type: 'email', destination: address };
    for (const one of [() => subscribe(id), () => app.call('POST', '/alerts/channels', owner, channel)]) {
      const statuses = (await Promise.all([one(), one(), one(), one()])).map(({ status }) => status);
      expect(statuses.sort()).toEqual([201, 409, 409, 409]);
    }
  });

  it('ST-09 a link that is followed while its address is being changed waits, and is void then', async () => {
    const { id } = await create();
    const change = await app.database.pool.connect();
    await change.query('BEGIN');
    await change.query('SELECT 1 FROM channel WHERE id = $1 FOR UPDATE', [id]);
    const confirming = dead(token());
    await eventually(async () => {
      const { rows } = await app.database.pool.query(
        `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return rows.length > 0;
    });
    await change.query('UPDATE confirmation SET spent_at = now() WHERE channel_id = $1', [id]);
    await change.query("UPDATE channel SET destination = 'moved@example.com' WHERE id = $1", [id]);
    await change.query('COMMIT');
    change.release();
    expect(await confirming).toEqual([404, 'link_replaced']);
  });

  it('ST-09 another destination clears verified_at, and the link to the one before is void', async () => {
    const { id } = await create();
    const first = token();
    const destination = `moved-${address}`;
    const patch = (body: object) => app.call('PATCH', `/alerts/channels/${id}`, owner, body);
    await patch({ destination });
    await eventually(() => token(destination) !== '');
    expect((await confirm(first)).status).toBe(404);
    expect((await confirm(token(destination))).status).toBe(200);
    expect(await verifiedAt(id)).not.toBeNull();
    expect((await patch({ destination })).body.verified_at).not.toBeNull();
    expect((await patch({ destination: address })).body.verified_at).toBeNull();
    expect((await patch({ destination: 'http://1.1.1.1/' })).status).toBe(422);
  });
});

describe('events by e-mail', () => {
  it.each([
    ['balance.low', { threshold_usd: 5 }],
    ['spend_cap.approaching', { threshold_pct: 50 }],
    ['rate_limit.threshold', { threshold_pct: 50 }],
  ])('EVT-43 422 for %s, on create and on update', async (alert_type, threshold) => {
    const { id } = await create();
    const refused = await subscribe(id, { alert_type, ...threshold });
    expect([refused.status, refused.body.error.details[0].loc]).toEqual([422, ['alert_type']]);
    const { policies } = await app.channel(owner, { alert_type, ...threshold });
    const moved = await app.call('PATCH', `/alerts/policies/${policies[0]}`, owner, { channel_id: id });
    expect(moved.status).toBe(422);
  });

  it('EVT-44 takes every other event', async () => {
    const { ACCOUNT_EVENT_TYPES } = await import('@gateway/contracts');
    const { id } = await create();
    const refused = ['balance.low', 'spend_cap.approaching', 'rate_limit.threshold'];
    for (const alert_type of ACCOUNT_EVENT_TYPES.filter((type) => !refused.includes(type)))
      expect([alert_type, (await subscribe(id, { alert_type })).status]).toEqual([alert_type, 201]);
  });

  it('ST-07 EVT-46 reach a confirmed address, from then on', async () => {
    const { id } = await create();
    await subscribe(id);
    await happen(app, owner.orgId);
    await app.clock.advance(MINUTE);
    expect((await confirm(token())).status).toBe(200);
    app.mailer.sent.length = 0;
    await happen(app, owner.orgId);
    expect(app.mailer.sent).toHaveLength(1);
    const [{ to, subject, text, html, headers }] = app.mailer.sent;
    expect([to, subject]).toEqual([address, '[Model Gateway] api_key.created']);
    for (const body of [text, html]) expect(body).toContain('rsk_ab12...wxyz');
    expect(headers).toMatchObject({ 'Service-Event-Type': 'api_key.created' });
  });

  it('EVT-46 no event reaches an address that has changed since, though it was due', async () => {
    const id = await confirmed();
    await subscribe(id);
    app.mailer.isUnavailable = true;
    await happen(app, owner.orgId);
    await app.call('PATCH', `/alerts/channels/${id}`, owner, { destination: `new-${address}` });
    app.mailer.isUnavailable = false;
    await app.clock.advance(HOUR);
    await app.deliver();
    expect(app.mailer.sent.filter(({ subject }) => subject.includes('api_key'))).toEqual([]);
    expect((await deliveriesOf(app, owner))[0].status).toBe('cancelled');
    expect((await app.call('POST', `/alerts/channels/${id}/test`, owner)).status).toBe(409);
  });

  it('EVT-45 stand in the log and are retried like those of webhooks', async () => {
    await subscribe(await confirmed());
    app.mailer.isUnavailable = true;
    await happen(app, owner.orgId);
    expect((await deliveriesOf(app, owner))[0]).toMatchObject({
      status: 'retrying',
      channel_type: 'email',
      destination: address,
      error: 'The mail server could not be reached.',
    });
    app.mailer.isUnavailable = false;
    await app.clock.advance(6 * SECOND);
    await app.deliver();
    expect((await deliveriesOf(app, owner))[0]).toMatchObject({ status: 'delivered', attempts: 2 });
    expect(app.mailer.sent).toHaveLength(1);
  });

  it('what a person wrote into a label is text in the mail', async () => {
    await subscribe(await confirmed());
    const data = { key_id: 'key_1', label: '<img src=x onerror=alert(1)>', masked_key: 'rsk_' };
    await app.account(app.event({ type: 'api_key.created', account_id: 'a', org_id: owner.orgId, data }));
    await app.deliver();
    expect(app.mailer.sent[0].html).toContain('&lt;img src=x');
    expect(app.mailer.sent[0].html).not.toContain('<img');
  });

  it('line breaks in a label write no line of the mail', async () => {
    await subscribe(await confirmed());
    const data = { key_id: 'key_1', label: 'a\r\n--b\norganization: another\u2028x', masked_key: 'rsk_' };
    await app.account(app.event({ type: 'api_key.created', account_id: 'a', org_id: owner.orgId, data }));
    await app.deliver();
    const [{ text, html }] = app.mailer.sent;
    expect(text.split('\n')).toContain('label: a --b organization: another x');
    expect(html).toContain('<td>a --b organization: another x</td>');
  });
});
