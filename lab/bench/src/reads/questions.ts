import { RARE_MODEL, RARE_TAG } from './fill.js';

/** A reader: a person, who sees a whole organization, or a key, which sees its own usage. */
export interface Asker {
  orgId: string;
  session: string;
  key: string;
  /** Some request ids of the organization and of the key. */
  requestIds: readonly string[];
}

/** One kind of read; each call of `ask` is one request, the n-th. */
export interface Question {
  id: string;
  figure: string;
  ask: (asker: Asker, n: number) => { method: 'GET' | 'POST'; path: string; as: string; body?: object };
}

const DAY_MS = 86_400_000;
const daysAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString();

function post(id: string, figure: string, path: string, body: (n: number) => object): Question {
  return {
    id,
    figure,
    ask: ({ orgId, session }, n) => ({
      method: 'POST',
      path: `${path}?refresh=true`,
      as: session,
      body: { org_id: orgId, ...body(n) },
    }),
  };
}

const series = (id: string, figure: string, body: object): Question =>
  post(`series-${id}`, `series ${figure}`, '/v1/usage/series', () => ({
    granularity: 'day',
    since: daysAgo(30),
    ...body,
  }));
const page = (id: string, figure: string, body: object): Question =>
  post(`events-${id}`, `events page, ${figure}`, '/v1/usage/events', (n) => ({
    limit: 50 + (n % 50),
    ...body,
  }));

/** Every read that has the gate, of the largest account. */
export const QUESTIONS: readonly Question[] = [
  post('summary', 'summary of everything', '/v1/usage', () => ({})),
  post('summary-30', 'summary of 30 days', '/v1/usage', () => ({ since: daysAgo(30) })),
  post('summary-model', 'summary of one model', '/v1/usage', (n) => ({ model: [modelOf(n)] })),
  post('summary-tag', 'summary of one tag, 7 days', '/v1/usage', (n) => ({
    since: daysAgo(7),
    tag: `team=team${n % 12}`,
  })),
  post('summary-tag-30', 'summary of one tag, 30 days', '/v1/usage', (n) => ({
    since: daysAgo(30),
    tag: `team=team${n % 12}`,
  })),
  {
    id: 'summary-key',
    figure: 'summary, asked by a key',
    ask: ({ orgId, key }) => ({ method: 'POST', path: '/v1/usage', as: key, body: { org_id: orgId } }),
  },
  page('plain', 'newest', {}),
  page('model', 'one model', { model: ['brand1/model-1'] }),
  page('rare', 'a model of one event in 100,000', { model: [RARE_MODEL] }),
  page('absent', 'a model without events', { model: ['acme/never'] }),
  page('errors', 'errors of one endpoint', { status: ['error'], endpoint: '/v1/messages' }),
  page('tag', 'one tag, 7 days', { tag: 'job=job77', since: daysAgo(7) }),
  page('rare-tag', 'a tag of one event in 100,000', { tag: RARE_TAG }),
  page('deep', 'the 10,000th row', { offset: 10_000 }),
  page('old', 'of a day 60 days ago', { since: daysAgo(60), until: daysAgo(59) }),
  {
    id: 'events-key',
    figure: 'events page, asked by a key',
    ask: ({ orgId, key }) => ({ method: 'POST', path: '/v1/usage/events', as: key, body: { org_id: orgId } }),
  },
  series('model', 'by model, 30 days', { group_by: 'model' }),
  series('model-zone', 'by model, 30 days of Asia/Kolkata', { group_by: 'model', time_zone: 'Asia/Kolkata' }),
  series('key', 'by key, 30 days', { group_by: 'key' }),
  series('hour', 'by hour, 30 days', { granularity: 'hour' }),
  series('90', 'by model, 90 days', { group_by: 'model', since: daysAgo(90) }),
  series('tag', 'by tag, 7 days', { group_by: 'tag:team', since: daysAgo(7) }),
  series('tag-30', 'by tag, 30 days', { group_by: 'tag:team' }),
  ...(['hour', 'day', 'week', 'month'] as const).map((granularity): Question => ({
    id: `trend-${granularity}`,
    figure: `spend trend by ${granularity}`,
    ask: ({ orgId, session }) => ({
      method: 'GET',
      path: `/v1/usage/spend-trend?org_id=${orgId}&granularity=${granularity}&refresh=true`,
      as: session,
    }),
  })),
  {
    id: 'lookup',
    figure: 'request lookup',
    ask: ({ requestIds, session }, n) => ({
      method: 'GET',
      path: `/v1/usage/requests/${requestIds[n % requestIds.length]}`,
      as: session,
    }),
  },
  post('rejections', 'rejections page', '/v1/usage/rejections', () => ({})),
  post('rejections-rare', 'rejections of a rare code', '/v1/usage/rejections', () => ({
    code: ['spend_limit_exceeded'],
  })),
];

function modelOf(n: number): string {
  return `brand${(n % 30) % 5}/model-${n % 30}`;
}
