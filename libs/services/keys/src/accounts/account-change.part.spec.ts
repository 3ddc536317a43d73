import { ApiError } from '@gateway/contracts';
import type { Created } from '@gateway/platform';
import { eventually } from '@gateway/testing';
import type { FastifyRequest } from 'fastify';
import type { Person } from '../keys-app.fixture.js';
import type { Tx } from '../postgres/keys-database.js';
import { AccountChanges, type Changed } from './account-change.js';
import { keys } from '../organizations.fixture.js';

let changes: AccountChanges;
let owner: Person;
let org: { orgId: string; accountId: string };

function request(body: unknown = {}, key?: string): FastifyRequest {
  const { userId, accountId } = owner;
  const principal = { kind: 'session', userId, accountId, memberships: [] };
  const headers = key === undefined ? {} : { 'idempotency-key': key };
  const made = { method: 'POST', url: '/v1/things', headers, body, principal, clientIp: '::1', id: 'req_1' };
  return made as unknown as FastifyRequest;
}

/** Appends to the org's name what it was, so that a lost change shows. */
async function append(tx: Tx, letter: string): Promise<Changed<string>> {
  const { name } = await tx.org.findUniqueOrThrow({ where: { id: org.orgId } });
  await tx.org.update({ where: { id: org.orgId }, data: { name: name + letter } });
  const { accountId: account_id, orgId: org_id } = org;
  const audit = {
    action: 'org.update',
    targetType: 'org',
    targetId: org_id,
    orgId: org_id,
    changedFields: ['name'],
  };
  const data = { key_id: 'key_1', label: letter, masked_key: 'rsk_' };
  return { answer: name + letter, audit, events: [{ type: 'api_key.created', account_id, org_id, data }] };
}

const change = (letter: string) => ({ accounts: [org.accountId], make: (tx: Tx) => append(tx, letter) });

async function left(): Promise<{ name: string; version: number; stamped: number; audits: number }> {
  const { prisma } = keys.database;
  const { name } = await prisma.org.findUniqueOrThrow({ where: { id: org.orgId } });
  const { version, stamped_version: stamped } = await versionsOf(org.accountId);
  return { name, version, stamped, audits: await prisma.auditLog.count({ where: { org_id: org.orgId } }) };
}

function versionsOf(id: string): Promise<{ version: number; stamped_version: number }> {
  return keys.database.prisma.account.findUniqueOrThrow({ where: { id } });
}

/** The letters of the org's events as they reached the event log, once the outbox is empty. */
async function reported(): Promise<string> {
  await eventually(async () => (await keys.database.prisma.outbox.count({ where: { sent_at: null } })) === 0);
  return keys.events.appended
    .filter(({ record }) => record.key === org.accountId)
    .map(({ record }) => (JSON.parse(record.value) as { data: { data: { label: string } } }).data.data.label)
    .join('');
}

const UNTOUCHED = { name: 'Another org', version: 1, audits: 0 };

function prepare(): void {
  changes = keys.app.get(AccountChanges, { strict: false });
}

async function begin(): Promise<void> {
  owner = await keys.person();
  org = await keys.org(owner);
}

describe('a management change', () => {
  beforeAll(prepare);
  beforeEach(begin);

  it('S04 K10 leaves its row, one audit row, its event and a stamped version', async () => {
    expect(await changes.run(request(), change('!'))).toBe('Another org!');
    expect(await left()).toEqual({ name: 'Another org!', version: 2, stamped: 2, audits: 1 });
    expect(await reported()).toBe('!');
  });

  it('leaves nothing where it throws, at whatever step', async () => {
    const late = {
      accounts: [org.accountId],
      make: async (tx: Tx) => {
        await append(tx, '!');
        throw new ApiError('conflict');
      },
    };
    await expect(changes.run(request(), late)).rejects.toMatchObject({ code: 'conflict' });
    const unknown = { accounts: [org.accountId, 'acct_unknown'], make: (tx: Tx) => append(tx, '!') };
    await expect(changes.run(request(), unknown)).rejects.toThrow();
    expect(await left()).toMatchObject(UNTOUCHED);
    expect(await reported()).toBe('');
  });

  it('leaves no version, row or event where nothing has changed', async () => {
    const nothing = { accounts: [org.accountId], make: async () => ({ answer: 'same', audit: null }) };
    expect(await changes.run(request(), nothing)).toBe('same');
    expect(await left()).toMatchObject(UNTOUCHED);
    expect(await reported()).toBe('');
  });

  it('sees the change before it: none of many at once is lost, and events keep their order', async () => {
    const letters = [...'abcdefghijklmnop'];
    await Promise.all(letters.map((letter) => changes.run(request(), change(letter))));
    const { name, version, audits } = await left();
    expect([...name.slice('Another org'.length)].sort()).toEqual(letters);
    expect([version, audits]).toEqual([letters.length + 1, letters.length]);
    expect(`Another org${await reported()}`).toBe(name);
  });

  it('of two accounts waits in one order, so that no two wait for each other', async () => {
    const both = [org.accountId, owner.accountId];
    const run = (accounts: string[]) => changes.run(request(), { accounts, make: (tx) => append(tx, '.') });
    await Promise.all([both, both.toReversed(), both, both.toReversed(), both, both.toReversed()].map(run));
    for (const id of both) expect(await versionsOf(id)).toMatchObject({ version: 7, stamped_version: 7 });
  });
});

describe('a create with Idempotency-Key', () => {
  beforeAll(prepare);
  beforeEach(begin);

  const create = (letter: string, key: string, work = append) =>
    changes.create(request({ letter }, key), {
      accounts: [org.accountId],
      make: async (tx): Promise<Changed<Created<{ answer: string; secret?: string }>>> => {
        const { answer, ...rest } = await work(tx, letter);
        return { ...rest, answer: { status: 201, body: { answer, secret: 's' }, secretFields: ['secret'] } };
      },
    });

  it('EDGE-08 is made once of many at once, and all get its answer; one gets the secret', async () => {
    const answers = await Promise.all([1, 2, 3, 4, 5, 6].map(() => create('a', 'same')));
    expect(await left()).toEqual({ name: 'Another orga', version: 2, stamped: 2, audits: 1 });
    expect(await reported()).toBe('a');
    expect(answers.filter(({ body }) => body.secret === 's')).toHaveLength(1);
    expect(new Set(answers.map(({ status, body }) => `${status} ${String(body.answer)}`))).toEqual(
      new Set(['201 Another orga']),
    );
  });

  it('EDGE-08 409 for another body, and nothing of it is left', async () => {
    await create('b', 'other-body');
    await expect(create('c', 'other-body')).rejects.toMatchObject({ code: 'conflict' });
    expect(await left()).toEqual({ name: 'Another orgb', version: 2, stamped: 2, audits: 1 });
    expect(await reported()).toBe('b');
  });

  it('gives the key back where the create failed', async () => {
    const fails = async (tx: Tx, letter: string): Promise<Changed<string>> => {
      await append(tx, letter);
      throw new ApiError('unprocessable_entity');
    };
    await expect(create('d', 'failed', fails)).rejects.toMatchObject({ code: 'unprocessable_entity' });
    expect(await left()).toMatchObject(UNTOUCHED);
    expect(await reported()).toBe('');
    expect((await create('d', 'failed')).body.answer).toBe('Another orgd');
  });
});
