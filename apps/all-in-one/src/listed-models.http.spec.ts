import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSeed } from '@gateway/catalogue';
import { eventually, testPostgres, type TestDatabase } from '@gateway/testing';
import { readSettings } from './all-in-one.config.js';
import { startAllInOne, type AllInOne } from './all-in-one.js';

interface Answer {
  status: number;
  body: unknown;
  retry: string | null;
}

/** A gateway as `npm start` starts it the first time. */
interface Fresh {
  ask(method: string, path: string, sent?: object): Promise<Answer>;
  /** Ids of what GET answers, by order. */
  ids(path: string): Promise<string[]>;
  close(): Promise<void>;
}

async function freshStart(more: Record<string, string>): Promise<Fresh> {
  const folder = mkdtempSync(join(tmpdir(), 'listed-models-'));
  const database: TestDatabase = await testPostgres();
  const env = { PORT: '0', GATEWAY_DATA_DIR: folder, DATABASE_URL: database.url, LOG_LEVEL: 'warn' };
  const gateway: AllInOne = await startAllInOne(readSettings({ ...env, ...more }));
  const call = async (method: string, path: string, as?: string, sent?: object): Promise<Answer> => {
    const answer = await fetch(`${gateway.url}${path}`, {
      method,
      headers: {
        ...(as === undefined ? {} : { authorization: `Bearer ${as}` }),
        ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: sent === undefined ? undefined : JSON.stringify(sent),
    });
    const { status, headers } = answer;
    return { status, body: await answer.json(), retry: headers.get('x-should-retry') };
  };
  const run = JSON.parse(readFileSync(join(folder, 'first-run.json'), 'utf8')) as { admin: object };
  const { token } = (await call('POST', '/auth/login', undefined, run.admin)).body as { token: string };
  const me = (await call('GET', '/auth/me', token)).body as { memberships: { org_id: string }[] };
  const [{ org_id }] = me.memberships;
  const { key } = (await call('POST', '/v1/keys', token, { org_id })).body as { key: string };
  const ask: Fresh['ask'] = (method, path, sent) => call(method, path, key, sent);
  return {
    ask,
    ids: async (path) => {
      const { body } = await ask('GET', path);
      const rows = Array.isArray(body) ? body : (body as { data: unknown[] }).data;
      return (rows as { id: string }[]).map(({ id }) => id).sort();
    },
    close: async () => {
      await gateway.close();
      await database.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const LISTS = ['/v1/models', '/openai/v1/models'];
const hello = (model: string): object => ({ model, messages: [{ role: 'user', content: 'Hello' }] });

describe('a gateway that was never started before', () => {
  it('issue 37 lists only what answers where no provider has a key', async () => {
    const gateway = await freshStart({});
    try {
      // Until an edge has reported, every model counts.
      await eventually(async () => !(await gateway.ids('/v1/models')).includes('openai/gpt-5.4'));
      for (const path of LISTS) {
        const ids = await gateway.ids(path);
        expect([path, ids.length > 0, ids.filter((id) => !id.startsWith('simulator/'))]).toEqual([
          path,
          true,
          [],
        ]);
      }
      expect((await gateway.ask('POST', '/v1/chat/completions', hello('simulator/chat'))).status).toBe(200);
      const refused = await gateway.ask('POST', '/v1/chat/completions', hello('openai/gpt-5.4'));
      expect([refused.status, refused.retry]).toEqual([503, 'false']);
      expect(JSON.stringify(refused.body)).toMatch(
        /openai\/gpt-5\.4 has no credential here: it needs one of .*openai/,
      );
    } finally {
      await gateway.close();
    }
  });

  it('issue 37 with a key of one provider lists the models of that provider and no others', async () => {
    const { models } = readSeed({ simulated: false });
    const own = models
      .filter(({ routes }) => routes.some(({ provider }) => provider === 'deepseek'))
      .map(({ id }) => id)
      .sort();
    const gateway = await freshStart({ DEEPSEEK_API_KEY: 'sk-of-nobody' });
    try {
      await eventually(async () => !(await gateway.ids('/v1/models')).includes('openai/gpt-5.4'));
      for (const path of LISTS) expect([path, await gateway.ids(path)]).toEqual([path, own]);
      expect(own.length).toBeGreaterThan(0);
      // Search has all, and says which can be called.
      expect(await gateway.ids('/v1/models/search?limit=200&available=true')).toEqual(own);
      const { total } = (await gateway.ask('GET', '/v1/models/search')).body as { total: number };
      expect(total).toBeGreaterThan(own.length);
    } finally {
      await gateway.close();
    }
  });
});
