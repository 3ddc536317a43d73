import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { applyMigrations } from '@gateway/database';
import { keyPrincipal, testDatabase, type TestDatabase } from '@gateway/testing';
import { startCatalogue, type CatalogueApp } from '../catalogue-app.fixture.js';
import { discoverModels, NotDiscovered } from './discover.js';
import { faultOf, OwnEntries } from './own-entries.js';
import { SCHEMA, SCHEMA_DIR } from '../postgres/catalogue-database.js';

const SHOWN: Record<string, object> = {
  'qwen3:0.6b': {
    capabilities: ['completion', 'tools', 'thinking'],
    model_info: { 'qwen3.context_length': 40_960 },
  },
  'hf.co/Org/Nomic:latest': { capabilities: ['embedding'], model_info: { 'bert.context_length': 2_048 } },
};

let ollama: Server;
let folder: string;
let database: TestDatabase;
let app: CatalogueApp;
let key: string;

/** An Ollama with two models. */
async function startOllama(): Promise<string> {
  ollama = createServer((request, response) => {
    const chunks: Uint8Array[] = [];
    request
      .on('data', (chunk: Uint8Array) => chunks.push(chunk))
      .on('end', () => {
        const asked = Buffer.concat(chunks).toString('utf8');
        const answer =
          request.url === '/api/tags'
            ? { models: Object.keys(SHOWN).map((name) => ({ name })) }
            : SHOWN[(JSON.parse(asked) as { model: string }).model];
        response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
      });
  });
  await new Promise<void>((resolve) => ollama.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(ollama.address() as AddressInfo).port}`;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'own-models-'));
  const path = join(folder, 'gateway.yaml');
  writeFileSync(
    path,
    `
providers:
  - slug: ollama
    base_url: ${await startOllama()}
  - slug: lab
    name: The lab
    dialect: chat
    base_url: http://127.0.0.1:9/v1
models:
  - id: lab/llama
    context_length: 32768
    supports: [completions_api, tools]
    routes:
      - { provider: lab, upstream_model: llama-3, prices: { prompt_usd_per_1m: '0.1', completion_usd_per_1m: '0.2' } }
prices:
  - { model: openai/gpt-5.5, provider: openai, prices: { prompt_usd_per_1m: '1.5', completion_usd_per_1m: '2' } }
`,
  );
  database = await testDatabase({
    schemaDir: SCHEMA_DIR,
    migrate: (url) => applyMigrations({ url, schemaDir: SCHEMA_DIR, schema: SCHEMA }),
  });
  app = await startCatalogue({ CATALOGUE_DATABASE_URL: database.url, GATEWAY_CONFIG: path });
  key = app.credentialOf(keyPrincipal());
});
afterAll(async () => {
  await app.close();
  await database.drop();
  ollama.close();
  rmSync(folder, { recursive: true });
});

describe('models of the operator’s own', () => {
  it('are those that a local server has loaded, listed free with what it says of them', async () => {
    expect((await app.get('/v1/models/ollama/qwen3-0.6b', key)).body).toMatchObject({
      id: 'ollama/qwen3-0.6b',
      is_free: true,
      context_length: 40_960,
      supports_tools: true,
      supports_thinking: true,
      supports_completions_api: true,
    });
    expect((await app.get('/v1/models/ollama/hf.co-org-nomic', key)).body).toMatchObject({
      model_type: 'embedding',
      is_free: true,
      supports_tools: false,
    });
  });

  it('C2 are found by the name that their server has for them, and a near name is told', async () => {
    for (const name of ['ollama/qwen3:0.6b', 'qwen3:0.6b', 'hf.co/Org/Nomic:latest'])
      expect((await app.get(`/v1/models/${encodeURIComponent(name)}`, key)).body.id).toMatch(/^ollama\//);
    const { status, body } = await app.get('/v1/models/ollama/qwen3:0.8b', key);
    expect([status, body.error.message]).toEqual([
      404,
      expect.stringMatching(
        /^The model ollama\/qwen3:0\.8b is unknown, disabled or not permitted for the key\. The nearest: ollama\/qwen3-0\.6b[,.]/,
      ),
    ]);
  });

  it('C2 have ids of their own where two names differ in marks alone, the same ones in any order', async () => {
    const server = createServer((_, response) => {
      names.reverse();
      response.end(JSON.stringify({ data: names.map((id) => ({ id })) }));
    });
    const names = ['Org/A:1', 'org/a-1', 'b'];
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const asked = { slug: 'vllm', name: 'vLLM', dialect: 'chat' as const, baseUrl, key: '', keyEnv: null };
    const idsBy = async () =>
      (await discoverModels(asked)).map(({ id, routes: [{ upstream_model }] }) => [upstream_model, id]);
    const first = await idsBy();
    expect(first).toEqual([
      ['Org/A:1', 'vllm/org-a-1'],
      ['b', 'vllm/b'],
      ['org/a-1', 'vllm/org-a-1-2'],
    ]);
    expect(await idsBy()).toEqual(first);
    server.close();
  });

  it('C7 are told at the start, server by server', () => {
    expect(app.app.get(OwnEntries, { strict: false }).offers()).toMatchObject([
      { name: 'Ollama', models: ['ollama/hf.co-org-nomic', 'ollama/qwen3-0.6b'], fault: null },
    ]);
  });

  it.each([
    [401, 'refuses the key of LAB_KEY (401)'],
    [500, 'answered 500'],
    [null, 'not reached'],
  ])('C7 a server that answers %s offers nothing, and says so', async (status, fault) => {
    const server = createServer((_, response) => response.writeHead(status ?? 200).end('{}'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    if (status === null) await new Promise((resolve) => server.close(resolve));
    const asked = { slug: 'lab', name: 'Lab', dialect: 'chat' as const, baseUrl, key: '', keyEnv: 'LAB_KEY' };
    const failure = await discoverModels(asked).catch((error: unknown) => error);
    server.close();
    expect(failure).toBeInstanceOf(NotDiscovered);
    expect(faultOf(failure, asked)).toBe(fault);
  });

  it('are those of the file, at its prices, beside a seeded price that it overrides', async () => {
    expect((await app.get('/v1/models/lab/llama', key)).body).toMatchObject({
      name: 'llama',
      is_free: false,
      context_length: 32_768,
      pricing: { prompt_usd_per_1m: '0.1', completion_usd_per_1m: '0.2' },
    });
    expect((await app.get('/v1/models/openai/gpt-5.5', key)).body).toMatchObject({
      pricing: { prompt_usd_per_1m: '1.5', completion_usd_per_1m: '2' },
    });
    expect((await app.get('/v1/models/lab/llama/providers', key)).body).toMatchObject({
      data: [{ provider: 'lab', name: 'The lab' }],
    });
  });

  it('are refused at start with a sentence per fault', async () => {
    const path = join(folder, 'wrong.yaml');
    writeFileSync(path, 'models:\n  - { id: lab/a, routes: [] }\n');
    await expect(
      startCatalogue({ CATALOGUE_DATABASE_URL: database.url, GATEWAY_CONFIG: path }),
    ).rejects.toThrow(
      /line 2: models\[0\]: context_length is missing\.\n {2}\S+, line 2: models\[0\]\.routes/,
    );
  });
});
