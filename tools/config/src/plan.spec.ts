import { GatewayConfigError } from '@gateway/providers';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { apply } from './apply.js';
import { planOf } from './plan.js';

const FILE = `
providers:
  - slug: lab
    dialect: chat
    base_url: http://10.0.0.5:8000/v1
models:
  - id: lab/llama
    context_length: 32768
    routes:
      - { provider: lab, upstream_model: llama-3, prices: { prompt_usd_per_1m: '0.1', completion_usd_per_1m: '0.2' } }
prices:
  - { model: openai/gpt-5.5, provider: openai, prices: { prompt_usd_per_1m: '1', completion_usd_per_1m: '2' } }
`;

function faultsOf(text: string): readonly string[] {
  try {
    planOf(text);
  } catch (error) {
    if (error instanceof GatewayConfigError) return error.faults;
    throw error;
  }
  throw new Error('the file was accepted');
}

describe('a plan', () => {
  it('says which providers, models and prices a file adds and changes', () => {
    const { lines } = planOf(FILE);
    expect(lines).toContain('+ provider lab (chat)');
    expect(lines).toContain('+ model lab/llama');
    expect(lines).toContain('    + lab llama-3: prompt_usd_per_1m 0.1, completion_usd_per_1m 0.2');
    expect(lines).toContain('~ model openai/gpt-5.5');
    expect(lines).toContain('    + openai gpt-5.5: prompt_usd_per_1m 1, completion_usd_per_1m 2');
    expect(planOf('providers: []').lines).toEqual([]);
  });

  it('names what new organizations begin with, held to what a create is held to', () => {
    const { lines } = planOf(
      "organizations: { rpm_limit: 600, blocked_models: [openai/*, a/b], spend_cap_usd: '5' }",
    );
    expect(lines).toEqual([
      '+ new organizations begin with rpm_limit 600',
      '+ new organizations begin with blocked_models openai/*, a/b',
      '+ new organizations begin with spend_cap_usd 5',
    ]);
    expect(faultsOf('organizations: { rpm_limit: 0, tier: enterprise, spend_cap_usd: 5 }')).toEqual([
      'organizations: tier is unknown.',
      'organizations.rpm_limit must be >= 1.',
      'organizations.spend_cap_usd must be string.',
    ]);
    expect(faultsOf("organizations: { rpm_limit: 1001, default_api_version: '2020-01' }")).toEqual([
      expect.stringMatching(/^organizations: rpm_limit .*1,?000/),
      expect.stringMatching(/^organizations: default_api_version must be one of 2026-08, 2026-09/),
    ]);
  });

  it('names every fault in a sentence, before anything is written', () => {
    expect(
      faultsOf(`
providers:
  - { slug: lab }
  - { slug: lab, dialect: chat, base_url: 'ftp://x', api_key_env: sk-live-1 }
models:
  - { id: lab/a, routes: [{ provider: lab, upstream_model: a, free: true }] }
secrets: 1
`),
    ).toEqual([
      'the file: secrets is unknown.',
      'providers[1].api_key_env must name a variable: the file never holds a secret.',
      'models[0]: context_length is missing.',
    ]);
    expect(
      faultsOf(`
providers:
  - { slug: lab }
  - { slug: openai, dialect: chat }
  - { slug: b, dialect: chat, base_url: 'https://user:secret@host/v1' }
models:
  - { id: lab/a, context_length: 9, routes: [{ provider: none, upstream_model: a }] }
`),
    ).toEqual([
      'providers[0]: dialect is missing, because this release has no lab.',
      'providers[0]: base_url is missing, because this release has no lab.',
      'providers[1]: openai is known to this release, which knows its dialect: leave dialect out.',
      'providers[2].base_url holds a credential: name a variable in api_key_env instead.',
      'models[0].routes[0].provider: there is no provider none, neither here nor in this release.',
      'models[0].routes[0]: prices are missing; a model that costs nothing says free: true.',
    ]);
    expect(faultsOf(FILE.replace("'0.1'", '0.1'))[0]).toMatch(/^lab\/llama: lab llama-3: prompt_usd_per_1m /);
    expect(faultsOf(FILE.replace('openai/gpt-5.5', 'openai/none'))).toEqual([
      'prices[0]: the catalogue has no route of openai/none to openai.',
    ]);
    expect(faultsOf('a: [1')).toHaveLength(1);
  });

  it('is applied through the admin endpoints, providers first', async () => {
    const seen: string[] = [];
    const server = createServer((request: IncomingMessage, response) => {
      const line = `${request.method} ${request.url} ${request.headers.authorization}`;
      let body = '';
      request.setEncoding('utf8').on('data', (part: string) => (body += part));
      request.on('end', () => {
        seen.push(request.url?.includes('organization') === true ? `${line} ${body}` : line);
        response.end('{}');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = server.address() as AddressInfo;
      await apply(planOf(`${FILE}\norganizations: { rpm_limit: 600 }`), {
        url: `http://127.0.0.1:${port}/`,
        token: 't',
      });
      expect(seen).toEqual([
        'PUT /v1/admin/providers/lab Bearer t',
        'PUT /v1/admin/models/openai/gpt-5.5 Bearer t',
        'PUT /v1/admin/models/lab/llama Bearer t',
        'PUT /v1/admin/organization-defaults Bearer t {"rpm_limit":600}',
      ]);
    } finally {
      server.close();
    }
  });
});
