import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testPostgres, type TestDatabase } from '@gateway/testing';
import { Client } from 'pg';
import { readSettings } from '../all-in-one.config.js';
import { startAllInOne, type AllInOne } from '../all-in-one.js';
import { ROLES, setScene, type Answer, type Role, type Scene } from './callers.fixture.js';
import { expected, type About, type Names } from './expected.fixture.js';
import type { Row } from './row.fixture.js';
import { INFERENCE_ROWS } from './rows-inference.fixture.js';
import { KEYS_ROWS } from './rows-keys.fixture.js';
import { OTHER_ROWS } from './rows-other.fixture.js';
import { makerOf, THINGS, WEBHOOK_URL, type Kind, type Thing } from './things.fixture.js';

/**
 * Every endpoint of the six services x who calls x whose thing, over HTTP. What is expected stands in the rows, written
 * by hand; that they are complete is asked of the running application.
 */
const ALIASES = ['files', 'batches', 'video/generations', 'responses/', 'conversations'];
const OPENAI = Object.entries(OTHER_ROWS)
  .filter(([route]) => ALIASES.some((name) => route.split(' ')[1].startsWith(`/v1/${name}`)))
  .map(([route, row]) => [route.replace(' /v1', ' /openai/v1'), row] as const);
const ROWS: Record<string, Row> = {
  ...KEYS_ROWS,
  ...OTHER_ROWS,
  ...Object.fromEntries(OPENAI),
  ...INFERENCE_ROWS,
};

const HANG_MS = 120_000;

let folder: string;
let database: TestDatabase;
let client: Client;
let gateway: AllInOne;
let scene: Scene;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'role-table-'));
  database = await testPostgres();
  gateway = await startAllInOne(
    readSettings({
      PORT: '0',
      GATEWAY_DATA_DIR: folder,
      DATABASE_URL: database.url,
      ALERTS_ALLOW_PRIVATE: new URL(WEBHOOK_URL).host,
      TRUSTED_PROXIES: 'loopback',
      LOG_LEVEL: 'warn',
    }),
  );
  client = new Client({ connectionString: database.url });
  await client.connect();
  const { admin } = JSON.parse(readFileSync(join(folder, 'first-run.json'), 'utf8')) as {
    admin: { email: string; password: string };
  };
  scene = await setScene({
    url: gateway.url,
    admin,
    mailFolder: join(folder, 'mail'),
    database: client,
  });
}, HANG_MS);

afterAll(async () => {
  await gateway?.close();
  await client?.end();
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
}, HANG_MS);

it('K13 AUTH-02 every endpoint that is served stands in the table, and nothing else', () => {
  const served = gateway.routes.map(
    ({ method, path }) => `${method} ${path.replace('requests/:id', 'requests/:request_id')}`,
  );
  expect(Object.keys(ROWS).sort()).toEqual([...new Set(served)].sort());
});

const made = new Map<string, Promise<Thing>>();

/** One for all callers, or a new one where the call ends it. */
function thingOf(kind: Kind, about: About, isFresh: boolean): Promise<Thing> {
  if (about === 'unknown') return Promise.resolve(THINGS[kind].unknown);
  const make = (): Promise<Thing> => THINGS[kind].make(makerOf(scene, about));
  if (isFresh) return make();
  const name = `${kind} ${about}`;
  const known = made.get(name) ?? make();
  made.set(name, known);
  return known;
}

/** Things that staff make, also where a person may have one of their own. */
const OF_STAFF: readonly (Kind | undefined)[] = ['request', 'content', 'providerKey', 'prompt'];

function aboutsOf({ thing, org, who }: Row): About[] {
  if (thing === undefined && org === undefined) return ['nothing'];
  const isMade = who.makers === true && thing !== undefined && !OF_STAFF.includes(thing);
  return ['own org', ...(isMade ? (['own member'] as const) : []), 'other org', 'unknown'];
}

const namesOf = ({ thing, org }: Row): Names =>
  org !== undefined ? 'org_id' : thing !== undefined ? 'thing' : 'nothing';

async function callCell(route: string, row: Row, role: Role, about: About, isIn: boolean): Promise<Answer> {
  const [method, path] = route.split(' ');
  const thing = row.thing === undefined ? {} : await thingOf(row.thing, about, row.isFresh === true && isIn);
  const { orgId, otherOrgId } = scene;
  const named = about === 'other org' ? otherOrgId : about === 'unknown' ? 'org_0' : orgId;
  const params: Readonly<Record<string, string>> = { ...row.params, ...thing };
  const url = path.replace('*', '').replaceAll(/:(\w+)/g, (_whole, name: string) => params[name]);
  const query = [row.query, row.org === 'query' ? `org_id=${named}` : undefined].filter(Boolean).join('&');
  const sent = typeof row.body === 'function' ? row.body({ scene, role, orgId: named, thing }) : row.body;
  const body = row.org === 'body' ? { ...(sent as object), org_id: named } : sent;
  const as = scene.credentialOf(role, row.who.rsk ?? null);
  return scene.call(method, query === '' ? url : `${url}?${query}`, as, body);
}

const CODES: Readonly<Record<number, string>> = { 401: 'unauthorized', 403: 'forbidden' };

describe.each(Object.entries(ROWS))('K13 AUTH-02 AUTH-04 KEY-26 %s', (route, row) => {
  const names = namesOf(row);
  it.each(aboutsOf(row))(
    '%s',
    async (about) => {
      const answered = async (role: Role): Promise<[wanted: unknown, got: unknown]> => {
        const cell = expected(row.who, names, role, about);
        const answer = await callCell(route, row, role, about, cell === 'in');
        const code = cell === 'in' ? undefined : CODES[cell];
        const status = cell === 'in' ? (row.status ?? 200) : cell;
        return [
          [role, status, code],
          [role, answer.status, code && (answer.body.error?.code ?? answer.text)],
        ];
      };
      const cells: [unknown, unknown][] = [];
      // Reads have no order; changes of one thing do.
      if (route.startsWith('GET ')) cells.push(...(await Promise.all(ROLES.map(answered))));
      else for (const role of ROLES) cells.push(await answered(role));
      expect(cells.map(([, got]) => got)).toEqual(cells.map(([wanted]) => wanted));
    },
    HANG_MS,
  );

  if (row.thing !== undefined)
    it(
      'K14 another organization’s answers like an unknown one, to the byte',
      async () => {
        for (const role of ROLES) {
          if (expected(row.who, names, role, 'other org') !== 404) continue;
          const shapes = [];
          for (const about of ['other org', 'unknown'] as const) {
            const thing = await thingOf(row.thing ?? 'org', about, false);
            shapes.push([role, shape(await callCell(route, row, role, about, false), thing)]);
          }
          expect(shapes[0]).toEqual(shapes[1]);
        }
      },
      HANG_MS,
    );
});

describe('K13 READ-46 own team and other team', () => {
  /** A team of the organization, with the member in it or with nobody. */
  async function team(isOwn: boolean): Promise<string> {
    const { owner, member } = scene.people;
    const { body } = await scene.call('POST', `/v1/orgs/${scene.orgId}/teams`, owner.token, { name: 'T' });
    const put = `/v1/teams/${String(body.id)}/members/${member.userId}`;
    if (isOwn) expect((await scene.call('PUT', put, owner.token, {})).status).toBe(200);
    return String(body.id);
  }
  /** Callers of a team's spend: its people and their keys; the team itself every member reads. */
  const SPEND = {
    outsider: 403,
    super_admin: 403,
    rsk: 403,
    exact_rsk: 403,
    scoped_rsk: 403,
    scoped_mak: 403,
  };
  const READ = { ...SPEND, outsider: 404, super_admin: 404 };
  const UNKNOWN = { suspended: 403, expired: 401, none: 401 };

  it.each([
    ['own team', true, {}],
    ['other team', false, { member: 403 }],
  ])(
    '%s',
    async (_name, isOwn, ofSpend) => {
      const id = await team(isOwn);
      const trend = `/v1/usage/spend-trend?org_id=${scene.orgId}&granularity=day&team_id=${id}`;
      for (const [path, refused] of [
        [`/v1/teams/${id}`, READ],
        [`/v1/teams/${id}/members`, READ],
        [trend, { ...SPEND, ...ofSpend }],
      ] as const)
        for (const role of ROLES) {
          const wanted = { ...UNKNOWN, ...refused }[role as keyof typeof UNKNOWN] ?? 200;
          const { status } = await scene.call('GET', path, scene.credentialOf(role, 'usage:read'));
          expect([path, role, status]).toEqual([path, role, wanted]);
        }
    },
    HANG_MS,
  );
});

/** The answer without what names the request or repeats what was asked for. */
function shape({ status, body }: Answer, asked: Thing): unknown {
  let text = JSON.stringify({ ...body, request_id: undefined });
  for (const id of Object.values(asked)) text = text.replaceAll(id, 'id');
  return { status, text };
}
