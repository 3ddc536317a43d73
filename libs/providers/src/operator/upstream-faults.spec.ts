import { GatewayFile } from './gateway-file.js';

const faults = (more: string, base = 'slug: lab, dialect: chat, base_url: "https://lab.example"'): string[] =>
  new GatewayFile(`providers: [{${base}, ${more}}]`).faults.map((fault) =>
    fault.replace('gateway.yaml, line 1: providers[0]', ''),
  );

const BY_REFERENCE = 'it carries a credential: write {env: NAME}, never the value.';

describe('issue 38 headers, query and TLS of an own upstream', () => {
  it.each([
    'headers: {X-Team: platform, X-Lab-Token: {env: LAB_TOKEN}, Authorization: {env: LAB_AUTH}}',
    'query: {api-version: "2026-01-01", api_key: {env: LAB_KEY}}',
    'ca_file: /etc/ca.pem, client_cert_file: /etc/cert.pem, client_key_file: /etc/key.pem',
    'timeouts: {connect_ms: 1, first_byte_ms: 1, idle_ms: 1, total_ms: 86400000}',
  ])('may be %s', (more) => expect(faults(more)).toEqual([]));

  it.each([
    ['headers: {X-Lab-Token: sk-abc}', [`.headers.X-Lab-Token: ${BY_REFERENCE}`]],
    [
      'headers: {Cookie: a=b, x-api-key: k}',
      [`.headers.Cookie: ${BY_REFERENCE}`, `.headers.x-api-key: ${BY_REFERENCE}`],
    ],
    ['query: {client_secret: s}', [`.query.client_secret: ${BY_REFERENCE}`]],
    [
      'api_key_env: LAB_KEY, headers: {Authorization: {env: LAB_AUTH}}',
      ['.headers.Authorization: the key of the provider is sent in it: leave one of them out.'],
    ],
    ...['Host', 'Content-Length', 'Connection', 'Transfer-Encoding', 'Proxy-Authorization', 'Upgrade'].map(
      (name): [string, string[]] => [
        `headers: {${name}: a}`,
        [`.headers.${name}: the gateway writes this header itself.`],
      ],
    ),
    ['headers: {X-A: a, x-a: b}', ['.headers.x-a: this header is there twice.']],
    ['headers: {"X A": a}', ['.headers.X A: this is no name of a header.']],
    ['query: {"a=b": a}', ['.query.a=b: this is no name of a query member.']],
    ['headers: {X-A: "a\\nb"}', ['.headers.X-A: this has to be printable ASCII of at most 8 KiB.']],
    [
      `headers: {X-A: ${'a'.repeat(8_193)}}`,
      ['.headers.X-A: this has to be printable ASCII of at most 8 KiB.'],
    ],
    ...['1', '[a]', '{env: low}', '{env: A, b: c}', '{file: /a}', 'null'].map((value): [string, string[]] => [
      `headers: {X-A: ${value}}`,
      ['.headers.X-A: this has to be a text in quotes, or {env: NAME} with the name of a variable.'],
    ]),
    ['client_cert_file: /a', ['.client_cert_file: it needs client_key_file beside it.']],
    ['client_key_file: /a', ['.client_key_file: it needs client_cert_file beside it.']],
    ['timeouts: {connect_ms: 0}', ['.timeouts.connect_ms: this is 1 at least.']],
    [
      `headers: {${Array.from({ length: 33 }, (_, n) => `X-${n}: a`).join(', ')}}`,
      ['.headers: this has at most 32 entries.'],
    ],
    [
      `query: {${Array.from({ length: 17 }, (_, n) => `q${n}: a`).join(', ')}}`,
      ['.query: this has at most 16 entries.'],
    ],
    ['deployments: {m: d}', ['.deployments: azure alone has deployments.']],
    ['discover_deployments: false', ['.discover_deployments: azure alone has deployments.']],
  ])('is refused by its place: %.60s', (more, expected) => expect(faults(more)).toEqual(expected));

  it('is refused where TLS stands at an http address, and where a request is signed with its address', () => {
    const plain = 'slug: lab, dialect: chat, base_url: "http://lab.example"';
    expect(faults('ca_file: /a', plain)).toEqual([
      '.ca_file: base_url is an http address, which has no TLS.',
    ]);
    for (const base of [
      'slug: amazon-bedrock',
      'slug: lab, dialect: converse, base_url: "https://lab.example"',
    ])
      expect(faults('query: {a: b}', base)).toEqual([
        '.query: requests are signed with their address, so that nothing can be added to it.',
      ]);
  });

  it('are there for providers of this release, too, whose own key stays in its header', () => {
    expect(faults('headers: {OpenAI-Organization: org-1}', 'slug: openai')).toEqual([]);
    expect(faults('headers: {authorization: {env: A}}', 'slug: openai')).toHaveLength(1);
  });
});
