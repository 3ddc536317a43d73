import { randomUUID } from 'node:crypto';
import { EVERYBODY, FLEET, members, rsk, staff, SUPER } from './expected.fixture.js';
import type { Row, Rows } from './row.fixture.js';
import { WEBHOOK_URL } from './things.fixture.js';

const readAlerts = members({ mak: 'alerts:read' });
const writeAlerts = staff({ mak: 'alerts:write', isSeenByMembers: true });
const usage = staff({ makers: true, rsk: 'usage:read', mak: 'usage:read' });
const ofKey = (permission: string): Row['who'] => rsk(permission, { isOfKey: true });
const MODEL = { brand: 'simulator', name: 'chat', id: 'simulator%2Fchat', provider: 'simulated' };
const UNKNOWN_MODEL = { brand: 'simulator', name: 'none', id: 'simulator%2Fnone', slug: 'none' };

const ALERTS: Rows = {
  'GET /alerts': { who: readAlerts, org: 'query' },
  'POST /alerts/channels': {
    who: writeAlerts,
    org: 'query',
    status: 201,
    body: { channel_type: 'webhook', destination: WEBHOOK_URL, is_enabled: false },
  },
  'PATCH /alerts/channels/:id': { who: writeAlerts, thing: 'channel', body: { is_enabled: true } },
  'DELETE /alerts/channels/:id': { who: writeAlerts, thing: 'channel', isFresh: true, status: 204 },
  'POST /alerts/channels/:id/rotate-secret': { who: writeAlerts, thing: 'channel' },
  'POST /alerts/channels/:id/test': { who: writeAlerts, thing: 'channel', status: 202 },
  'POST /alerts/channels/:id/verify': { who: writeAlerts, thing: 'emailChannel', isFresh: true },
  // A page that asks.
  'GET /alerts/confirm': { who: EVERYBODY, query: 'token=unknown' },
  'POST /alerts/confirm': { who: EVERYBODY, status: 404, query: 'token=unknown' },
  'POST /alerts/policies': {
    who: writeAlerts,
    thing: 'channel',
    org: 'query',
    isFresh: true,
    status: 201,
    body: ({ thing }) => ({ channel_id: thing.id, alert_type: 'api_key.created', is_enabled: false }),
  },
  'PATCH /alerts/policies/:id': { who: writeAlerts, thing: 'policy', body: { is_enabled: false } },
  'DELETE /alerts/policies/:id': { who: writeAlerts, thing: 'policy', isFresh: true, status: 204 },
  'GET /alerts/deliveries': { who: readAlerts, org: 'query' },
  'GET /alerts/deliveries/:id': { who: readAlerts, thing: 'delivery' },
  'POST /alerts/deliveries/:id/redeliver': { who: writeAlerts, thing: 'delivery', status: 202 },
};

const USAGE: Rows = {
  'POST /v1/usage': { who: usage, org: 'body', body: {} },
  'POST /v1/usage/events': { who: usage, org: 'body', body: {} },
  'POST /v1/usage/rejections': { who: usage, org: 'body', body: {} },
  'POST /v1/usage/series': {
    who: staff({ makers: true, mak: 'usage:read' }),
    org: 'body',
    body: { granularity: 'day' },
  },
  'GET /v1/usage/events/:id/attempts': { who: { ...usage, isOfKey: true }, thing: 'request' },
  'GET /v1/usage/requests/:request_id': { who: { ...usage, isOfKey: true }, thing: 'request' },
  'GET /v1/usage/requests/:request_id/content': { who: staff({ makers: true }), thing: 'content' },
  'DELETE /v1/usage/contents': { who: staff(), org: 'query', status: 204 },
  'GET /v1/usage/events/export': { who: staff({ makers: true }), org: 'query' },
  'POST /v1/usage/exports': { who: staff({ makers: true }), org: 'body', status: 201, body: {} },
  'GET /v1/usage/exports/:token': { who: EVERYBODY, status: 404, params: { token: 'unknown' } },
  'GET /v1/usage/spend-trend': {
    who: members({ rsk: 'usage:read', mak: 'usage:read' }),
    org: 'query',
    query: 'granularity=day',
  },
  'GET /v1/usage/rate-limits': {
    who: members({ rsk: 'usage:read', mak: 'usage:read' }),
    org: 'query',
  },
  'GET /v1/balance': { who: members({ rsk: 'usage:read', mak: 'usage:read' }), org: 'query' },
  'POST /v1/end-users/erasures': {
    who: rsk('end-users:write'),
    status: 202,
    body: () => ({ end_user_id: randomUUID() }),
  },
  'GET /v1/end-users/erasures/:id': { who: rsk('end-users:write'), thing: 'erasure' },
};

const MONEY: Rows = {
  // No payment provider is set up here: `feature_not_enabled`.
  'POST /v1/billing/checkout': { who: staff(), org: 'body', status: 403, body: { amount_usd: '10' } },
  'GET /v1/billing/payments': { who: staff(), org: 'query' },
  'GET /v1/billing/ledger': { who: staff(), org: 'query' },
  'GET /v1/billing/statement': { who: staff(), org: 'query', query: 'month=2026-11' },
  'GET /v1/billing/auto-recharge': { who: staff(), org: 'query' },
  'PUT /v1/billing/auto-recharge': { who: staff(), org: 'body', body: { enabled: false } },
  'POST /v1/billing/coupons/redeem': { who: staff(), org: 'body', status: 404, body: { code: 'UNKNOWN1' } },
  'POST /v1/billing/webhooks/stripe': { who: EVERYBODY, status: 403, body: {} },
  'POST /v1/admin/credits': {
    who: SUPER,
    status: 422,
    body: { org_id: 'org_0', amount_usd: '-1', reason: 'x' },
  },
  'GET /v1/admin/coupons': { who: SUPER },
  'POST /v1/admin/coupons': { who: SUPER, status: 422, body: {} },
  'GET /v1/admin/books': { who: SUPER },
  'GET /v1/admin/usage/requests/:request_id': { who: SUPER, status: 404 },
  'POST /v1/admin/catalogue/import': { who: SUPER, status: 422, body: {} },
  'GET /v1/admin/catalogue/feed': { who: SUPER },
  'POST /v1/admin/catalogue/sync': { who: SUPER, status: 409, body: {} },
  'GET /v1/admin/catalogue/pending': { who: SUPER },
  'POST /v1/admin/catalogue/pending/apply': { who: SUPER, status: 422, body: {} },
  'POST /v1/admin/catalogue/pending/dismiss': { who: SUPER, status: 422, body: {} },
  'GET /v1/admin/models': { who: SUPER },
  'GET /v1/admin/models/:id': { who: SUPER, status: 404, params: UNKNOWN_MODEL },
  'GET /v1/admin/models/:brand/:name': { who: SUPER, status: 404, params: UNKNOWN_MODEL },
  'PUT /v1/admin/models/:id': { who: SUPER, status: 422, params: UNKNOWN_MODEL, body: {} },
  'PUT /v1/admin/models/:brand/:name': { who: SUPER, status: 422, params: UNKNOWN_MODEL, body: {} },
  'PATCH /v1/admin/models/:id': { who: SUPER, status: 404, params: UNKNOWN_MODEL, body: {} },
  'PATCH /v1/admin/models/:brand/:name': { who: SUPER, status: 404, params: UNKNOWN_MODEL, body: {} },
  'DELETE /v1/admin/models/:id/edits': { who: SUPER, status: 404, params: UNKNOWN_MODEL },
  'DELETE /v1/admin/models/:brand/:name/edits': { who: SUPER, status: 404, params: UNKNOWN_MODEL },
  'DELETE /v1/admin/models/:id': { who: SUPER, status: 404, params: UNKNOWN_MODEL },
  'DELETE /v1/admin/models/:brand/:name': { who: SUPER, status: 404, params: UNKNOWN_MODEL },
  'GET /v1/admin/providers': { who: SUPER },
  'PUT /v1/admin/providers/:slug': { who: SUPER, status: 422, params: UNKNOWN_MODEL, body: { base_url: 1 } },
  'DELETE /v1/admin/providers/:slug': { who: SUPER, status: 404, params: UNKNOWN_MODEL },
};

const readers: Row['who'] = { people: 'all', rsk: 'models:read' };
const CATALOGUE: Rows = Object.fromEntries<Row>([
  ...[
    ...['', '/:id', '/:brand/:name', '/:id/providers', '/:brand/:name/providers', '/search'].map(
      (path) => `/v1/models${path}`,
    ),
    ...['/v1/models/:id/price-history', '/v1/models/:brand/:name/price-history', '/openai/v1/models'],
    ...['/openai/v1/models/:id', '/openai/v1/models/:brand/:name', '/v1/providers/pinnable'],
    '/v1/providers/:provider/models',
  ].map((path) => [`GET ${path}`, { who: readers, params: MODEL }] as const),
  ...['', '/:id', '/:brand/:name', '/:id/providers', '/:brand/:name/providers', '/search'].map(
    (path) => [`GET /v1/public/models${path}`, { who: EVERYBODY, params: MODEL }] as const,
  ),
  ['GET /v1/public/brands', { who: EVERYBODY }],
  ...['/v1/errors', '/v1/api-versions'].map(
    (path) => [`GET ${path}`, { who: { people: 'all', rsk: 'any' } as const }] as const,
  ),
]);

const A_TARGET = [{ model: 'simulator/chat', weight: 1 }];
const ALIASES: Rows = {
  'POST /v1/aliases': {
    who: staff(),
    org: 'body',
    status: 201,
    body: () => ({ name: randomUUID(), targets: A_TARGET }),
  },
  'GET /v1/aliases': { who: { people: 'all' } },
  'GET /v1/aliases/:id': { who: members(), thing: 'alias' },
  'PATCH /v1/aliases/:id': { who: staff(), thing: 'alias', body: { description: 'x' } },
  'DELETE /v1/aliases/:id': { who: staff(), thing: 'alias', isFresh: true, status: 204 },
  'GET /v1/admin/aliases': { who: SUPER },
  'POST /v1/admin/aliases': { who: SUPER, status: 422, body: {} },
  'GET /v1/admin/aliases/:id': { who: SUPER, status: 404, params: { id: 'alias_0' } },
  'PATCH /v1/admin/aliases/:id': { who: SUPER, status: 404, params: { id: 'alias_0' }, body: {} },
  'GET /v1/admin/aliases/:id/shadow': { who: SUPER, params: { id: 'alias_0' } },
  'DELETE /v1/admin/aliases/:id': { who: SUPER, status: 404, params: { id: 'alias_0' } },
};

const LONG_WORK: Rows = {
  'GET /v1/files': { who: rsk('files:write') },
  'GET /v1/files/:id': { who: ofKey('files:write'), thing: 'file' },
  'GET /v1/files/:id/content': { who: ofKey('files:write'), thing: 'file' },
  'DELETE /v1/files/:id': { who: ofKey('files:write'), thing: 'file', isFresh: true },
  'GET /v1/batches': { who: rsk('batches:write') },
  'POST /v1/batches': { who: rsk('batches:write'), status: 422, body: {} },
  'GET /v1/batches/:id': { who: ofKey('batches:write'), thing: 'batch' },
  'POST /v1/batches/:id/cancel': { who: ofKey('batches:write'), thing: 'batch', isFresh: true },
  'GET /v1/video/generations': { who: rsk('videos:write') },
  'POST /v1/video/generations': { who: rsk('videos:write'), status: 422, body: {} },
  'GET /v1/video/generations/:id': { who: ofKey('videos:write'), thing: 'video' },
  'GET /v1/responses/:id': { who: ofKey('inference:write'), thing: 'response' },
  'GET /v1/responses/:id/input_items': { who: ofKey('inference:write'), thing: 'response' },
  // It does not run in the background.
  'POST /v1/responses/:id/cancel': { who: ofKey('inference:write'), thing: 'response', status: 400 },
  'DELETE /v1/responses/:id': { who: ofKey('inference:write'), thing: 'response', isFresh: true },
  'POST /v1/conversations': { who: rsk('inference:write'), body: {} },
  'GET /v1/conversations/:id': { who: ofKey('inference:write'), thing: 'conversation' },
  'POST /v1/conversations/:id': {
    who: ofKey('inference:write'),
    thing: 'conversation',
    body: { metadata: {} },
  },
  'DELETE /v1/conversations/:id': { who: ofKey('inference:write'), thing: 'conversation', isFresh: true },
  'GET /v1/conversations/:id/items': { who: ofKey('inference:write'), thing: 'conversation' },
  'POST /v1/conversations/:id/items': {
    who: ofKey('inference:write'),
    thing: 'conversation',
    body: { items: [{ type: 'message', role: 'user', content: 'Hello' }] },
  },
  'GET /v1/conversations/:id/items/:item': { who: ofKey('inference:write'), thing: 'conversation' },
  'DELETE /v1/conversations/:id/items/:item': {
    who: ofKey('inference:write'),
    thing: 'conversation',
    isFresh: true,
  },
};

const OPERATION: Rows = Object.fromEntries<Row>([
  ...[
    ...[
      'POST /internal/contents',
      'POST /internal/credits',
      'POST /internal/gate/:account',
      'POST /internal/gate/:account/due',
    ],
    ...['GET /internal/balances/:account', 'GET /internal/billing'],
    ...['POST /internal/spend', 'GET /internal/watermarks/:producer', 'GET /internal/applied/:producer'],
    'POST /internal/producers/:producer',
    ...['GET /internal/catalogue/snapshot', 'GET /internal/catalogue/snapshots/:id'],
    'GET /internal/catalogue/aliases',
    ...[
      'POST /internal/infer',
      'POST /internal/infer/plan',
      'POST /internal/infer/worth',
      'POST /internal/responses',
    ],
    'POST /internal/infer/batch',
    'POST /internal/infer/hold',
    'POST /internal/catalogue/unknown',
    'POST /internal/catalogue/credentials',
    'POST /internal/catalogue/health',
    'POST /internal/catalogue/provider-states',
    ...['recall', 'items', 'files', 'forget'].map((what) => `POST /internal/responses/${what}`),
    ...['claim', 'renew', 'complete', 'release'].map((what) => `POST /internal/idempotency/${what}`),
    'GET /internal/erasures',
    ...['', '/take', '/append', '/events'].map((path) => `POST /internal/background-responses${path}`),
  ].map((route) => [route, { who: FLEET, params: { id: 'a', account: 'a', producer: 'a' } }] as const),
  ...['/healthz', '/readyz', '/metrics', '/openapi.json', '/docs', '/docs/start.js'].map(
    (path) => [`GET ${path}`, { who: EVERYBODY }] as const,
  ),
  ...['/docs/swagger-ui-bundle.js', '/docs/swagger-ui.css'].map(
    (path) => [`GET ${path}`, { who: EVERYBODY }] as const,
  ),
  ['GET /', { who: EVERYBODY, status: 302 }],
  ['GET /dashboard', { who: EVERYBODY, status: 302 }],
  ['GET /dashboard/*', { who: EVERYBODY }],
  [
    'GET /objects/:kind/:owner/:name',
    {
      who: EVERYBODY,
      status: 404,
      params: { kind: 'file', owner: 'acct_0', name: 'none' },
      query: `expires=1&signature=${'x'.repeat(43)}`,
    },
  ],
]);

/** Endpoints of the catalogue, usage, notifications and workers, and those by which the gateway is operated. */
export const OTHER_ROWS: Rows = {
  ...ALERTS,
  ...USAGE,
  ...MONEY,
  ...CATALOGUE,
  ...ALIASES,
  ...LONG_WORK,
  ...OPERATION,
};
