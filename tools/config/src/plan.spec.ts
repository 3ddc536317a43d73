import { GatewayConfigError, GatewayFile } from '@gateway/providers';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { apply } from './apply.js';
import { planOf as planOfFile } from './plan.js';

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

const planOf = (text: string) => planOfFile(new GatewayFile(text));

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
    expect(faultsOf('organizations: { rpm_limit: 0, credit_limit_usd: 1, spend_cap_usd: 5 }')).toEqual([
      expect.stringMatching(
        /^gateway\.yaml, line 1: organizations: credit_limit_usd is unknown; what may stand here is rpm_limit, /,
      ),
      'gateway.yaml, line 1: organizations.rpm_limit: this is 1 at least.',
      'gateway.yaml, line 1: organizations.spend_cap_usd: this has to be a text: put it in quotes.',
    ]);
    expect(faultsOf("organizations: { rpm_limit: 1001, default_api_version: '2020-01' }")).toEqual([
      expect.stringMatching(/line 1: organizations\.rpm_limit: rpm_limit .*1,?000/),
      expect.stringMatching(
        /line 1: organizations\.default_api_version: default_api_version must be one of 2026-08, 2026-09/,
      ),
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
      'gateway.yaml, line 7: secrets is unknown; what may stand here is providers, models, prices, aliases, budgets, billing, catalogue, organizations.',
      'gateway.yaml, line 4: providers[1].api_key_env: this has to be the name of a variable, such as LAB_API_KEY: the file never holds a secret.',
      'gateway.yaml, line 6: models[0]: context_length is missing.',
      'gateway.yaml, line 3: providers[0]: dialect is missing, because this release has no lab.',
      'gateway.yaml, line 3: providers[0]: base_url is missing, because this release has no lab.',
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
      'gateway.yaml, line 3: providers[0]: dialect is missing, because this release has no lab.',
      'gateway.yaml, line 3: providers[0]: base_url is missing, because this release has no lab.',
      'gateway.yaml, line 4: providers[1].dialect: openai is known to this release, which knows its dialect: leave dialect out.',
      'gateway.yaml, line 5: providers[2].base_url: it holds a credential: name a variable in api_key_env instead.',
      'gateway.yaml, line 7: models[0].routes[0].provider: there is no provider none, neither here nor in this release.',
      'gateway.yaml, line 7: models[0].routes[0]: prices are missing; a model that costs nothing says free: true.',
    ]);
    expect(faultsOf(FILE.replace("'0.1'", '0.1'))[0]).toMatch(
      /^gateway\.yaml, line 10: models\[0\]\.routes\[0\]\.prices: lab llama-3: prompt_usd_per_1m /,
    );
    expect(faultsOf(FILE.replace('openai/gpt-5.5', 'openai/none'))).toEqual([
      'gateway.yaml, line 12: prices[0]: the catalogue has no route of openai/none to openai.',
    ]);
    expect(faultsOf('a: [1')).toHaveLength(1);
  });

  it('C8 names faults of form, references, prices and misspelt flags in one report', () => {
    const found = faultsOf(`
providers:
  - { slug: lab, dialect: chat, base_url: 'lab.example' }
models:
  - id: lab/a
    context_length: 9
    supports: [completions_api, tool]
    input_modalities: [txt]
    routes: [{ provider: lab, upstream_model: a, prices: { promt_usd_per_1m: '1', completion_usd_per_1m: 2 } }]
  - { id: lab/b, contxt: 9, routes: [{ provider: lab, upstream_model: a, free: true }] }
prices:
  - { model: openai/gpt-5.5, provider: openai, prices: { prompt_usd_per_1m: 1, completion_usd_per_1m: '2' } }
  - { model: openai/none, provider: openai, prices: { prompt_usd_per_1m: '1' } }
organizations: { rpm_limit: 100000000 }
aliases:
  - { name: prod, targets: [{ model: openai/gpt-none, weight: 1 }] }
  - { name: auto, targets: [{ model: lab/a, weight: 0 }] }
  - { name: prod, targets: [{ model: lab/a, weight: 1 }, { model: lab/a, weight: 2 }] }
  - { name: openai/gpt-5.5, targets: [{ model: vllm/any, weight: 1 }], shadow: { model: openai/gpt-none, sample_pct: 1 } }
  - { name: 'a b', targets: [{ model: prod, weight: 1001 }], shade: null, shadow: { model: lab/none, sample_pct: 0 } }
`);
    const wanted = [
      /line 10: models\[1\]: contxt is unknown/,
      /line 10: models\[1\]: context_length is missing/,
      /line 3: providers\[0\]\.base_url: /,
      /line 7: models\[0\]\.supports\[1\]: tool is none of tools, structured_output, /,
      /line 8: models\[0\]\.input_modalities\[0\]: txt is none of text, image, file, audio, video/,
      /line 9: models\[0\]\.routes\[0\]\.prices: .*promt_usd_per_1m this field is not known/,
      /line 9: models\[0\]\.routes\[0\]\.prices: .*completion_usd_per_1m not a rate/,
      /line 12: prices\[0\]\.prices: .*prompt_usd_per_1m not a rate/,
      /line 13: prices\[1\]: the catalogue has no route of openai\/none/,
      /line 14: organizations\.rpm_limit: /,
      /line 16: aliases\[0\]\.targets\[0\]\.model: the catalogue has no model openai\/gpt-none: of openai it has openai\/.* and so on\.$/,
      /line 17: aliases\[1\]\.name: auto is the name/,
      /line 17: aliases\[1\]\.targets: one weight has to be above 0\.$/,
      /line 18: aliases\[2\]: prod is there twice\.$/,
      /line 18: aliases\[2\]\.targets\[1\]: lab\/a is there twice\.$/,
      /line 19: aliases\[3\]\.name: a model has the id openai\/gpt-5\.5\.$/,
      /line 19: aliases\[3\]\.shadow\.model: the catalogue has no model openai\/gpt-none: /,
      /line 20: aliases\[4\]: shade is unknown; what may stand here is name, targets, shadow\.$/,
      /line 20: aliases\[4\]\.shadow\.sample_pct: this is 0\.01 at least\.$/,
      /line 20: aliases\[4\]\.name: this has to be a name of letters/,
      /line 20: aliases\[4\]\.targets\[0\]\.model: this has to be <brand>\/<name>/,
      /line 20: aliases\[4\]\.targets\[0\]\.weight: this is 1000 at most\.$/,
    ];
    expect(wanted.filter((words) => !found.some((fault) => words.test(fault)))).toEqual([]);
    expect(found).toHaveLength(wanted.length);
  });

  it('is applied through the admin endpoints, providers first, and sends of another model nothing but its price', async () => {
    const seen: string[] = [];
    const server = createServer((request: IncomingMessage, response) => {
      const line = `${request.method} ${request.url} ${request.headers.authorization}`;
      let body = '';
      request.setEncoding('utf8').on('data', (part: string) => (body += part));
      request.on('end', () => {
        seen.push(
          /organization|openai|alias/.test(request.url ?? '') && body !== '' ? `${line} ${body}` : line,
        );
        response.end(
          JSON.stringify({
            data: [
              { id: 'alias_1', name: 'prod', created_by: 'usr_1' },
              { id: 'alias_2', name: 'next', created_by: null },
            ],
          }),
        );
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = server.address() as AddressInfo;
      await apply(
        planOf(
          `${FILE}
organizations: { rpm_limit: 600 }
aliases:
  - { name: prod, targets: [{ model: lab/llama, weight: 1 }] }
  - { name: next, targets: [{ model: openai/gpt-5.5, weight: 2 }] }`,
        ),
        {
          url: `http://127.0.0.1:${port}/`,
          token: 't',
        },
      );
      const priced = {
        ...{ provider: 'openai', upstream_model: 'gpt-5.5' },
        price: { pricing_unit: 'per_1m_tokens', prompt_usd_per_1m: '1', completion_usd_per_1m: '2' },
        ...{ source: 'GATEWAY_CONFIG', source_date: '1970-01-01', effective_date: '1970-01-01' },
      };
      expect(seen).toEqual([
        'PUT /v1/admin/providers/lab Bearer t',
        'PUT /v1/admin/models/lab/llama Bearer t',
        `PATCH /v1/admin/models/openai/gpt-5.5 Bearer t ${JSON.stringify({ routes: [priced] })}`,
        'PUT /v1/admin/organization-defaults Bearer t {"rpm_limit":600}',
        'GET /v1/admin/aliases?limit=200&offset=0 Bearer t',
        'PATCH /v1/admin/aliases/alias_1 Bearer t {"targets":[{"model":"lab/llama","weight":1}]}',
        'POST /v1/admin/aliases Bearer t {"name":"next","targets":[{"model":"openai/gpt-5.5","weight":2}]}',
      ]);
    } finally {
      server.close();
    }
  });
});
