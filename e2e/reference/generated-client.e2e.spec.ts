import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '@gateway/testing';
import { ownOrganization, type OwnOrganization } from '../harness/own-organization.js';

const START_MS = 900_000;
const TEST_MS = 900_000;
const run = promisify(execFile);

/** Program against the generated types: it compiles only where the document describes the answers. */
const CLIENT = `
import createClient from 'openapi-fetch';
import type { paths } from './schema.js';

declare const process: { argv: string[] };
const [baseUrl, email, password] = process.argv.slice(2);
const api = createClient<paths>({ baseUrl });
const session = await api.POST('/auth/login', { body: { email, password } });
if (session.error !== undefined) throw new Error(session.error.error.code);
const token: string = session.data.token;
const headers = { authorization: \`Bearer \${token}\` };
const created = await api.POST('/v1/keys', { headers, body: { label: 'generated client', rpm: 10 } });
const key: string | undefined = created.data?.key;
const listed = await api.GET('/v1/keys', { headers, params: { query: { limit: 1, label: 'generated' } } });
const models = await api.GET('/v1/models/search', {
  headers: { authorization: \`Bearer \${key}\` },
  params: { query: { limit: 1 } },
});
const price: string | null | undefined = models.data?.data[0].pricing.prompt_usd_per_1m;
const refused = await api.GET('/v1/key', { headers: { authorization: 'Bearer rsk_unknown' } });
// @ts-expect-error No record has such a member.
const nothing: unknown = created.data?.no_such_member;
// @ts-expect-error The name of a role is not a number of requests.
const wrong = { rpm: 'owner' } satisfies paths['/v1/keys']['post']['requestBody']['content']['application/json'];
console.log(
  JSON.stringify({
    rpm: created.data?.rpm_limit,
    listed: listed.data?.data.map(({ label }) => label),
    isPriced: price !== undefined,
    refused: refused.error?.error.code,
    nothing,
    wrong,
  }),
);
`;

describe('a client that is generated from /openapi.json', () => {
  let gateway: OwnOrganization;
  let folder: string;

  beforeAll(async () => {
    mkdirSync('.cache', { recursive: true });
    // Inside the repository, so that the client finds its library.
    folder = mkdtempSync(join(process.cwd(), '.cache', 'generated-client-'));
    gateway = await ownOrganization('all-in-one');
  }, START_MS);
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
  }, START_MS);

  it(
    'compiles, and reads and writes through it',
    async () => {
      const node = (...args: string[]) => run(process.execPath, args, { cwd: folder });
      const modules = join(process.cwd(), 'node_modules');
      writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
      writeFileSync(join(folder, 'client.ts'), CLIENT);
      const document = `${gateway.url}/openapi.json`;
      await node(join(modules, 'openapi-typescript/bin/cli.js'), document, '-o', 'schema.ts');
      const options = ['--ignoreConfig', '--strict', '--target', 'es2023', '--lib', 'es2023,dom'];
      const how = [
        '--module',
        'nodenext',
        '--moduleResolution',
        'nodenext',
        '--skipLibCheck',
        '--outDir',
        'out',
      ];
      await node(join(modules, 'typescript/bin/tsc'), 'client.ts', ...options, ...how);
      const { email, password } = gateway.admin;
      // It gives up at a 503, which a busy machine may answer.
      const { stdout } = await eventually(() => node('out/client.js', gateway.url, email, password), {
        intervalMs: 1_000,
      });
      expect(JSON.parse(stdout)).toEqual({
        rpm: 10,
        listed: ['generated client'],
        isPriced: true,
        refused: 'unauthorized',
        wrong: { rpm: 'owner' },
      });
    },
    TEST_MS,
  );
});
