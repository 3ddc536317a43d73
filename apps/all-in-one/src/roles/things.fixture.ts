import { randomUUID } from 'node:crypto';
import { eventually } from '@gateway/testing';
import type { Scene } from './callers.fixture.js';
import type { About } from './expected.fixture.js';

/** The parameters of a path that name one thing. */
export type Thing = Record<string, string>;

/** The organization, person and key that a thing is made by and for. */
interface Maker {
  scene: Scene;
  orgId: string;
  /** Session that makes the thing, and whose key. */
  session: string;
  key: string | undefined;
}

type Make = (by: Maker) => Promise<Thing>;

export function makerOf(scene: Scene, about: About): Maker {
  const { people, orgId, otherOrgId, otherKey } = scene;
  if (about === 'other org')
    return { scene, orgId: otherOrgId, session: people.stranger.token, key: otherKey };
  const session = (about === 'own member' ? people.member : people.owner).token;
  return { scene, orgId, session, key: scene.credentialOf('rsk', null) };
}

async function done(
  by: Maker,
  method: string,
  path: string,
  body?: unknown,
  as = by.session,
): Promise<Thing> {
  const { status, text, body: made } = await by.scene.call(method, path, as, body);
  if (status >= 300) throw new Error(`${method} ${path} answered ${status}: ${text}`);
  return made as Thing;
}

const idOf = async (made: Promise<Thing>): Promise<Thing> => ({ id: String((await made).id) });
const post = (path: string, body: (by: Maker) => object): Make => {
  return (by) => idOf(done(by, 'POST', path, body(by)));
};
/** A thing of one key. */
const byKey = (path: string, body: (by: Maker) => unknown): Make => {
  return (by) => idOf(done(by, 'POST', path, body(by), by.key));
};

/** Address where nobody listens. */
export const WEBHOOK_URL = 'http://127.0.0.1:9/hook';
const WEBHOOK = { channel_type: 'webhook', destination: WEBHOOK_URL };
const CHAT = { model: 'simulator/chat', max_tokens: 5, messages: [{ role: 'user', content: 'Hello' }] };

/** A person who is in the organization and never calls. */
async function aMember({ scene: { database }, orgId }: Maker): Promise<Thing> {
  const id = `usr_${randomUUID()}`;
  await database.query(
    `insert into keys."user" (id, email, name, password_hash, created_at) values ($1, $1 || '@example.com', 'A person', 'none', now())`,
    [id],
  );
  await database.query(
    `insert into keys.account (id, user_id, end_user_key, created_at) values ('acct_' || $1::text, $1, ''::bytea, now())`,
    [id],
  );
  await database.query(
    `insert into keys.membership (org_id, user_id, role, created_at) values ($1, $2, 'member', now())`,
    [orgId, id],
  );
  return { id: orgId, user_id: id };
}

async function aTeam(by: Maker): Promise<Thing> {
  return idOf(done(by, 'POST', `/v1/orgs/${by.orgId}/teams`, { name: 'A team' }, ownerOf(by)));
}

/** Returns the owner of the organization, who makes what its owner alone may make. */
function ownerOf({ scene: { people, orgId }, orgId: of }: Maker): string {
  return (of === orgId ? people.owner : people.stranger).token;
}

async function aPrompt(by: Maker): Promise<Thing> {
  const made = done(
    by,
    'POST',
    '/v1/templates',
    { org_id: by.orgId, name: `p-${randomUUID()}` },
    ownerOf(by),
  );
  const { id } = await idOf(made);
  const content = { messages: [{ role: 'user', content: 'Hello {{name}}' }] };
  const version = await done(by, 'POST', `/v1/templates/${id}/versions`, content, ownerOf(by));
  await done(by, 'POST', `/v1/templates/${id}/publish`, { version_id: version.id }, ownerOf(by));
  return { id, version_id: version.id };
}

async function aPolicy(by: Maker): Promise<Thing> {
  const { id: channel_id } = await THINGS.channel.make(by);
  const body = { channel_id, alert_type: 'api_key.created', is_enabled: false };
  return idOf(done(by, 'POST', `/alerts/policies?org_id=${by.orgId}`, body));
}

async function aDelivery(by: Maker): Promise<Thing> {
  const { id } = await THINGS.channel.make(by);
  return idOf(done(by, 'POST', `/alerts/channels/${id}/test`));
}

async function aConversationItem(by: Maker): Promise<Thing> {
  const items = [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello' }] }];
  const { id } = await done(by, 'POST', '/v1/conversations', { items }, by.key);
  const { body } = await by.scene.call('GET', `/v1/conversations/${id}/items`, by.key);
  return { id, item: String(body.data?.at(0)?.id) };
}

/** A request that is in the ledger. */
async function aRequest(by: Maker): Promise<Thing> {
  await done(by, 'POST', '/v1/chat/completions', CHAT, by.key);
  return eventually(
    async () => {
      const filter = { org_id: by.orgId, limit: 1 };
      const { events } = (await by.scene.call('POST', '/v1/usage/events', by.key, filter)).body;
      const event = events?.at(0);
      return event && { id: event.id, request_id: event.request_id };
    },
    { timeoutMs: 60_000 },
  );
}

/** A request of an organization that logs bodies, once its own is kept. */
async function aContent(by: Maker): Promise<Thing> {
  const owner = ownerOf(by);
  await done(by, 'PATCH', `/v1/orgs/${by.orgId}`, { request_logging: { enabled: true } }, owner);
  const made = await aRequest(by);
  await eventually(
    async () => {
      const path = `/v1/usage/requests/${made.request_id}/content`;
      return (await by.scene.call('GET', path, owner)).status === 200;
    },
    { timeoutMs: 60_000 },
  );
  return made;
}

function aFile(by: Maker): Promise<Thing> {
  const form = new FormData();
  const line = { custom_id: '1', method: 'POST', url: '/v1/chat/completions', body: CHAT };
  form.set('purpose', 'batch');
  form.set('file', new Blob([`${JSON.stringify(line)}\n`]), 'lines.jsonl');
  return idOf(done(by, 'POST', '/v1/files', form, by.key));
}

/** Each kind of thing: how it is made, and an id that nothing has. */
export const THINGS = {
  org: { make: async ({ orgId }) => ({ id: orgId }), unknown: { id: 'org_0' } },
  member: { make: aMember, unknown: { id: 'org_0', user_id: 'usr_0' } },
  invitation: {
    make: async (by) => {
      const body = { email: `${randomUUID()}@example.com`, role: 'member' };
      const made = await done(by, 'POST', `/v1/orgs/${by.orgId}/invitations`, body, ownerOf(by));
      return { id: by.orgId, invitation_id: made.id };
    },
    unknown: { id: 'org_0', invitation_id: 'inv_0' },
  },
  view: {
    make: async (by) => {
      const body = { page: '/usage', name: randomUUID(), search: {} };
      const made = await done(by, 'POST', `/v1/orgs/${by.orgId}/views`, body, ownerOf(by));
      return { id: by.orgId, view_id: made.id };
    },
    unknown: { id: 'org_0', view_id: 'view_0' },
  },
  team: { make: aTeam, unknown: { id: 'team_0' } },
  teamMember: {
    make: async (by) => {
      const { id } = await aTeam(by);
      const { user_id } = await aMember(by);
      await done(by, 'PUT', `/v1/teams/${id}/members/${user_id}`, {}, ownerOf(by));
      return { id, user_id };
    },
    unknown: { id: 'team_0', user_id: 'usr_0' },
  },
  key: { make: post('/v1/keys', ({ orgId }) => ({ org_id: orgId })), unknown: { id: 'key_0' } },
  providerKey: {
    make: (by) => {
      const credentials = { api_key: 'sk-of-the-table' };
      const body = { org_id: by.orgId, provider: 'simulated', credentials, is_enabled: false };
      return idOf(done(by, 'POST', '/v1/provider-keys', body, ownerOf(by)));
    },
    unknown: { id: 'pk_0' },
  },
  adminKey: {
    make: (by) =>
      idOf(done(by, 'POST', '/v1/admin-keys', { org_id: by.orgId, scopes: ['usage:read'] }, ownerOf(by))),
    unknown: { id: 'mak_0' },
  },
  budget: {
    make: async (by) => {
      const key = await idOf(done(by, 'POST', '/v1/keys', { org_id: by.orgId }));
      const of = { org_id: by.orgId, scope: 'key', scope_id: key.id };
      const body = { ...of, name: 'Ours', amount_usd: '1000', period: 'day' };
      return idOf(done(by, 'POST', '/v1/budgets', body, ownerOf(by)));
    },
    unknown: { id: 'bud_0' },
  },
  routing: {
    make: (by) => {
      const body = { org_id: by.orgId, name: `r-${randomUUID()}`, routing_policy: { max_retries: 1 } };
      return idOf(done(by, 'POST', '/v1/routing-policy-templates', body, ownerOf(by)));
    },
    unknown: { id: 'rpt_0' },
  },
  alias: {
    make: (by) => {
      const targets = [{ model: 'simulator/chat', weight: 1 }];
      const body = { org_id: by.orgId, name: `a-${randomUUID()}`, targets };
      return idOf(done(by, 'POST', '/v1/aliases', body, ownerOf(by)));
    },
    unknown: { id: 'alias_0' },
  },
  prompt: { make: aPrompt, unknown: { id: 'tmpl_0', version_id: 'tv_0' } },
  channel: {
    make: (by) => idOf(done(by, 'POST', `/alerts/channels?org_id=${by.orgId}`, WEBHOOK, ownerOf(by))),
    unknown: { id: 'chan_0' },
  },
  emailChannel: {
    make: (by) => {
      const body = { channel_type: 'email', destination: `${randomUUID()}@example.com`, is_enabled: true };
      return idOf(done(by, 'POST', `/alerts/channels?org_id=${by.orgId}`, body, ownerOf(by)));
    },
    unknown: { id: 'chan_0' },
  },
  policy: { make: aPolicy, unknown: { id: 'pol_0' } },
  delivery: { make: aDelivery, unknown: { id: 'dlv_0' } },
  file: { make: aFile, unknown: { id: 'file-0' } },
  batch: {
    make: async (by) => {
      const body = { input_file_id: (await aFile(by)).id, completion_window: '24h' };
      return idOf(done(by, 'POST', '/v1/batches', { ...body, endpoint: '/v1/chat/completions' }, by.key));
    },
    unknown: { id: 'batch_0' },
  },
  video: {
    make: byKey('/v1/video/generations', () => ({ model: 'simulator/video', prompt: 'A fox', duration: 4 })),
    unknown: { id: 'vid_0' },
  },
  response: {
    make: byKey('/v1/responses', () => ({ model: 'simulator/chat', input: 'Hello', store: true })),
    unknown: { id: 'resp_0' },
  },
  conversation: { make: aConversationItem, unknown: { id: 'conv_0', item: 'msg_0' } },
  request: { make: aRequest, unknown: { id: 'evt_0', request_id: 'req_0' } },
  content: { make: aContent, unknown: { id: 'evt_0', request_id: 'req_0' } },
  erasure: {
    make: byKey('/v1/end-users/erasures', () => ({ end_user_id: randomUUID() })),
    unknown: { id: 'era_0' },
  },
  superAdmin: {
    make: async (by) => {
      const { user_id } = await aMember(by);
      await by.scene.database.query('update keys."user" set is_super_admin = true where id = $1', [user_id]);
      return { user_id };
    },
    unknown: { user_id: 'usr_0' },
  },
} as const satisfies Record<string, { make: Make; unknown: Thing }>;

export type Kind = keyof typeof THINGS;
