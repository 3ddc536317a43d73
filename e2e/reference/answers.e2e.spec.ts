import { Ajv2020 } from 'ajv/dist/2020.js';
import { answered } from '../harness/requests.js';
import { ownOrganization, type OwnOrganization } from '../harness/own-organization.js';

const START_MS = 900_000;
const TEST_MS = 900_000;
const VERSIONS = ['2026-08', '2026-09'];

interface Answered {
  content?: Record<string, { schema?: object }>;
}

interface Document {
  paths: Record<string, Record<string, { responses: Record<string, Answered> }>>;
  components: object;
}

let gateway: OwnOrganization;
let document: Document;
/** Sessions read what keys may not, and the other way round: each path is read as both. */
let credentials: string[];
/** Values for the path's parameters, by the path's beginning. */
let ids: [RegExp, Record<string, string>][];

beforeAll(async () => {
  gateway = await ownOrganization('all-in-one');
  document = (await (await fetch(`${gateway.url}/openapi.json`)).json()) as Document;
  const { token } = gateway;
  credentials = [gateway.key, token];
  const me = await get('/auth/me', token);
  const org_id = gateway.orgId;
  const team = await post(`/v1/orgs/${org_id}/teams`, { name: 'one' }, token);
  const key = await get('/v1/key', gateway.key);
  const task = { model: 'simulator/video', prompt: 'A red fox', duration: 4 };
  const response = { model: 'simulator/chat', input: 'Hello' };
  ids = [
    [/\/models\//, { id: 'simulator%2Fchat', brand: 'simulator', name: 'chat' }],
    [/\/providers\//, { provider: 'simulated' }],
    [/\/orgs\//, { id: org_id, user_id: me.user.id }],
    [/\/teams\//, { id: team.id }],
    [/\/keys\//, { id: key.id }],
    [/\/video\//, { id: (await post('/v1/video/generations', task, gateway.key)).id }],
    [/\/responses\//, { id: (await post('/v1/responses', response, gateway.key)).id }],
  ];
}, START_MS);

async function post(path: string, body: object, as = ''): Promise<Record<string, string>> {
  const headers = { 'content-type': 'application/json', ...(as && { authorization: `Bearer ${as}` }) };
  const answer = await answered(() =>
    fetch(`${gateway.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) }),
  );
  if (!answer.ok) throw new Error(`POST ${path} answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as Record<string, string>;
}

async function get(
  path: string,
  as: string,
): Promise<{ id: string; user: { id: string }; memberships: { org_id: string }[] }> {
  const headers = { authorization: `Bearer ${as}` };
  const answer = await answered(() => fetch(`${gateway.url}${path}`, { headers }));
  return (await answer.json()) as Awaited<ReturnType<typeof get>>;
}

function addressOf(path: string): string {
  const known = ids.find(([begin]) => begin.test(path))?.[1] ?? {};
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => known[name] ?? 'nothing');
}

describe('the answers of every path that is read', () => {
  it(
    'are of a status, type and schema that /openapi.json has, under each version',
    async () => {
      const ajv = new Ajv2020({ strict: false, validateFormats: false });
      ajv.addSchema({ $id: 'document', components: document.components });
      const faults: string[] = [];
      let whole = 0;
      for (const [path, { get: operation }] of Object.entries(document.paths)) {
        if (operation === undefined) continue;
        for (const as of credentials)
          for (const version of VERSIONS) {
            const headers = { authorization: `Bearer ${as}`, 'x-service-version': version };
            const answer = await fetch(`${gateway.url}${addressOf(path)}`, { headers, redirect: 'manual' });
            const text = await answer.text();
            if (answer.status === 200) whole += 1;
            const fault = faultOf(ajv, operation.responses, answer, text);
            if (fault !== null) faults.push(`GET ${path} under ${version}: ${answer.status} ${fault}`);
          }
      }
      expect(faults).toEqual([]);
      // Or everything was refused, and the answers that matter were not looked at.
      expect(whole).toBeGreaterThan(150);
    },
    TEST_MS,
  );
});

function faultOf(
  ajv: Ajv2020,
  responses: Record<string, Answered>,
  { status, headers }: Response,
  text: string,
): string | null {
  const described = responses[String(status)] ?? responses[`${String(status)[0]}XX`];
  if (described === undefined) return 'is not described';
  const [type] = (headers.get('content-type') ?? '').split(';');
  if (text === '') return null;
  const content = described.content?.[type] ?? described.content?.['*/*'];
  if (content === undefined) return `of type ${type} is not described`;
  if (type !== 'application/json' || content.schema === undefined) return null;
  const schema = JSON.stringify(content.schema).replaceAll('"#/components', '"document#/components');
  const isValid = ajv.compile(JSON.parse(schema) as object);
  return isValid(JSON.parse(text)) ? null : ajv.errorsText(isValid.errors);
}
