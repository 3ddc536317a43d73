import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { startUpstreamSim, type UpstreamSim } from '@gateway/simulator';
import { testPostgres, type TestDatabase } from '@gateway/testing';
import OpenAI from 'openai';
import pg from 'pg';
import { startAllInOne } from './harness/all-in-one.js';
import type { Gateway } from './harness/gateway.js';
import { START_MS } from './harness/modes.js';
import { logIn } from './harness/session.js';

const run = promisify(execFile);
const PROGRAM = resolve(import.meta.dirname, '../dist/tools/import/src/main.js');

/** Twelve models of five providers; the host of its own is the simulator's. */
const config = (host: string): string => `
model_list:
  - { model_name: gpt-4, litellm_params: { model: openai/gpt-5.5, api_key: os.environ/TEAM_OPENAI, weight: 9 } }
  - { model_name: gpt-4, litellm_params: { model: anthropic/claude-opus-5, api_key: os.environ/ANTHROPIC_API_KEY, weight: 1 } }
  - { model_name: gpt-mini, litellm_params: { model: openai/gpt-5.4, api_key: os.environ/TEAM_OPENAI } }
  - { model_name: gpt-pro, litellm_params: { model: openai/gpt-5.4-pro, api_key: os.environ/TEAM_OPENAI } }
  - { model_name: sonnet, litellm_params: { model: anthropic/claude-sonnet-5, api_key: os.environ/ANTHROPIC_API_KEY } }
  - { model_name: haiku, litellm_params: { model: anthropic/claude-haiku-5-5, api_key: os.environ/ANTHROPIC_API_KEY } }
  - { model_name: mistral, litellm_params: { model: mistral/mistral-large-4, api_key: os.environ/MISTRAL_API_KEY } }
  - { model_name: ministral, litellm_params: { model: mistral/ministral-8b-2512, api_key: os.environ/MISTRAL_API_KEY } }
  - { model_name: deepseek, litellm_params: { model: deepseek/deepseek-v4-pro, api_key: os.environ/DEEPSEEK_API_KEY } }
  - { model_name: gemini, litellm_params: { model: gemini/gemini-2.5-pro, api_key: os.environ/GEMINI_API_KEY } }
  - { model_name: flash, litellm_params: { model: gemini/gemini-2.5-flash, api_key: os.environ/GEMINI_API_KEY } }
  - model_name: lab-chat
    litellm_params: { model: openai/lab-llama, api_base: '${host}/v1', api_key: os.environ/LAB_KEY }
    model_info: { max_input_tokens: 32768, input_cost_per_token: 1e-06, output_cost_per_token: 2e-06 }
router_settings:
  num_retries: 0
  model_group_alias: { prod: lab-chat }
  fallbacks: [{ gpt-mini: [lab-chat] }]
litellm_settings: { callbacks: [otel] }
`;

const ROWS = `
CREATE TABLE "LiteLLM_BudgetTable" (budget_id text PRIMARY KEY, max_budget double precision, budget_duration text);
CREATE TABLE "LiteLLM_OrganizationTable" (organization_id text PRIMARY KEY, organization_alias text, budget_id text, models text[]);
CREATE TABLE "LiteLLM_TeamTable" (team_id text PRIMARY KEY, team_alias text, organization_id text, max_budget double precision,
  budget_duration text, models text[], rpm_limit bigint, blocked boolean);
CREATE TABLE "LiteLLM_VerificationToken" (token text PRIMARY KEY, key_name text, key_alias text, models text[], team_id text,
  metadata jsonb, blocked boolean, max_budget double precision, budget_duration text);
INSERT INTO "LiteLLM_BudgetTable" VALUES ('b', 1000, '30d');
INSERT INTO "LiteLLM_OrganizationTable" VALUES ('o', 'Research', 'b', '{}');
INSERT INTO "LiteLLM_TeamTable" VALUES ('t', 'Search', 'o', 0.000001, '1d', '{}', 500, false), ('u', 'Answers', 'o', 50, '7d', '{}', NULL, false);
INSERT INTO "LiteLLM_VerificationToken" VALUES
  ('one', 'sk-...aaaa', 'answers', '{gpt-4,gpt-mini,lab-chat}', 'u', '{"tags": ["squad:answers"]}', NULL, NULL, NULL),
  ('two', 'sk-...bbbb', 'poor', '{}', 't', '{}', NULL, NULL, NULL);
`;

let folder: string;
let upstream: UpstreamSim;
let database: TestDatabase;
let gateway: Gateway | undefined;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'import-e2e-'));
  upstream = await startUpstreamSim({ record: 1_000 });
  database = await testPostgres();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(ROWS);
  await client.end();
  writeFileSync(join(folder, 'config.yaml'), config(upstream.url));
});
afterAll(async () => {
  await gateway?.stop();
  await upstream?.close();
  await database?.drop();
  rmSync(folder, { recursive: true });
}, START_MS);

/** Runs the command as an operator does; resolves with its output. */
async function imported(args: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const asked = ['litellm', join(folder, 'config.yaml'), '--out', join(folder, 'moved'), ...args];
  const { PATH = '' } = process.env;
  return (await run(process.execPath, [PROGRAM, ...asked], { env: { PATH, ...env } })).stdout;
}

const ask = (client: OpenAI, model: string) =>
  client.chat.completions.create({ model, max_tokens: 8, messages: [{ role: 'user', content: 'Hello' }] });

describe('an installation of LiteLLM that moves here', () => {
  it(
    'is imported from its file and its database, and its clients run unchanged but for address and key',
    async () => {
      const told = await imported(['--database-url', database.url]);
      expect(told).toContain('+ alias gpt-4: openai/gpt-5.5 9, anthropic/claude-opus-5 1');
      expect(told).toContain('litellm_settings.callbacks: callbacks have no counterpart');
      const { url } = upstream;
      gateway = await startAllInOne({
        env: {
          ...{ GATEWAY_CONFIG: join(folder, 'moved/gateway.yaml'), BILLING: 'off' },
          ...{ TEAM_OPENAI: 'sk-a', OPENAI_BASE_URL: `${url}/v1`, LAB_KEY: 'sk-lab' },
          ...{ ANTHROPIC_API_KEY: 'sk-b', ANTHROPIC_BASE_URL: url },
        },
      });
      const { token } = await logIn(gateway);
      const env = { GATEWAY_URL: gateway.url, GATEWAY_TOKEN: token };
      const made = 'made: 1 organizations, 2 teams, 2 keys, 3 budgets';
      expect([await imported(['--apply'], env), await imported(['--apply'], env)]).toEqual([
        expect.stringContaining(made),
        expect.stringContaining(made),
      ]);
      const rows = readFileSync(join(folder, 'moved/keys.csv'), 'utf8').trimEnd().split('\n').slice(1);
      expect(rows).toHaveLength(2);
      const [rich, poor] = rows.map((row) => {
        const apiKey = row.split(',').at(-1);
        return new OpenAI({ apiKey, baseURL: `${gateway?.url}/v1`, maxRetries: 0 });
      });
      for (const [name, served] of [
        ['gpt-4', /^(openai\/gpt-5\.5|anthropic\/claude-opus-5)$/],
        ['gpt-mini', /^openai\/gpt-5\.4$/],
        ['lab-chat', /^openai-1\/lab-llama$/],
        ['prod', /^openai-1\/lab-llama$/],
      ] as const)
        expect((await ask(rich, name)).model).toMatch(served);
      // OpenAI fails: the fallback of the file serves.
      upstream.script(['error=500']);
      expect((await ask(rich, 'gpt-mini')).model).toBe('openai-1/lab-llama');
      await expect(ask(rich, 'sonnet')).rejects.toMatchObject({ status: 404 });
      // The budget of a millionth of a dollar a day holds for the team, after one request at most.
      await ask(poor, 'lab-chat');
      await expect(ask(poor, 'lab-chat')).rejects.toMatchObject({
        status: 402,
        code: 'spend_limit_exceeded',
      });
    },
    START_MS,
  );
});
