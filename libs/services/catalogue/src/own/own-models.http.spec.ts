import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { applyMigrations } from '@gateway/database';
import { keyPrincipal, testDatabase, type TestDatabase } from '@gateway/testing';
import { startCatalogue, type CatalogueApp } from '../catalogue-app.fixture.js';
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
