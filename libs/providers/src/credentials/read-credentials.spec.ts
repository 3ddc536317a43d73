import { readCredentials } from './read-credentials.js';

const LONG = 'sk-0123456789abcdefghijklmnop';
const ACCOUNT = {
  type: 'service_account',
  client_email: 'caller@project.iam.gserviceaccount.com',
  private_key: '-----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----\n',
};
const AZURE = { api_key: LONG, endpoint: 'https://mine.openai.azure.com', api_version: '2024-10-21' };
const AWS = { access_key_id: 'AKIAABCDEFGHIJKLMNOP', secret_access_key: 's'.repeat(40), region: 'eu-west-1' };
const VERTEX = { service_account_json: JSON.stringify(ACCOUNT), project: 'my-project', location: 'global' };

const JSON_LOC = 'credentials.service_account_json';

function vertexOf(account: object): object {
  return { ...VERTEX, service_account_json: { ...ACCOUNT, ...account } };
}

/** Places of the faults; empty where the credentials are taken. */
function faults(slug: string, sent: unknown): string[] {
  const read = readCredentials(slug, sent);
  return Array.isArray(read) ? read.map(({ loc }) => loc.join('.')) : [];
}

describe('readCredentials', () => {
  it('ROUTE-06 takes the shape of each provider and shows little of it', () => {
    expect(readCredentials('openai', { api_key: LONG })).toEqual({
      credential: { kind: 'api_key', key: LONG },
      masked: 'sk-0...mnop',
    });
    expect(readCredentials('openai', 'short-key')).toMatchObject({ masked: '****' });
    expect(readCredentials('azure', AZURE)).toMatchObject({
      credential: { kind: 'azure', endpoint: 'https://mine.openai.azure.com', apiVersion: '2024-10-21' },
    });
    expect(readCredentials('amazon-bedrock', { ...AWS, session_token: null })).toMatchObject({
      credential: { kind: 'aws', region: 'eu-west-1', sessionToken: null },
    });
    expect(readCredentials('amazon-bedrock', { api_key: LONG })).toMatchObject({
      credential: { kind: 'api_key' },
    });
    for (const json of [ACCOUNT, JSON.stringify(ACCOUNT)])
      expect(readCredentials('google-vertex', { ...VERTEX, service_account_json: json })).toMatchObject({
        credential: { kind: 'vertex', clientEmail: ACCOUNT.client_email, location: 'global' },
        masked: ACCOUNT.client_email,
      });
  });

  it('ROUTE-06 keeps the id of a service account’s key, and none where it has none', () => {
    const idOf = (account: object): unknown => {
      const read = readCredentials('google-vertex', vertexOf(account));
      return Array.isArray(read) || read.credential.kind !== 'vertex' ? read : read.credential.privateKeyId;
    };
    expect([idOf({ private_key_id: 'kid-1' }), idOf({}), idOf({ private_key_id: 7 })]).toEqual([
      'kid-1',
      null,
      null,
    ]);
  });

  it('S08 422 says of a member that is not there that it is missing, and of a wrong one what it has to be', () => {
    expect(readCredentials('openai', {})).toMatchObject([{ type: 'missing', msg: 'field required' }]);
    expect(readCredentials('openai', { api_key: 'two words' })).toMatchObject([
      { type: 'value_error', msg: 'api_key must be printable text without spaces.' },
    ]);
  });

  it.each<[string, unknown, string]>([
    ['openai', {}, 'credentials.api_key'],
    ['openai', null, 'credentials'],
    ['openai', [LONG], 'credentials'],
    ['openai', { api_key: 'two words' }, 'credentials.api_key'],
    ['openai', { api_key: 'line\r\nx-injected: 1' }, 'credentials.api_key'],
    ['openai', { api_key: LONG, base_url: 'http://169.254.169.254' }, 'credentials.base_url'],
    ['azure', { ...AZURE, api_version: 'latest' }, 'credentials.api_version'],
    ['amazon-bedrock', { ...AWS, region: 'eu-west-1.evil.example' }, 'credentials.region'],
    ['amazon-bedrock', { ...AWS, region: undefined }, 'credentials.region'],
    ['google-vertex', { ...VERTEX, location: 'x/../..' }, 'credentials.location'],
    ['google-vertex', { ...VERTEX, project: '../other' }, 'credentials.project'],
    ['google-vertex', { ...VERTEX, service_account_json: 'nonsense' }, 'credentials.service_account_json'],
    ['google-vertex', vertexOf({ type: 'external_account', token_url: 'http://169.254.169.254' }), JSON_LOC],
    ['google-vertex', vertexOf({ token_uri: 'https://evil.example/token' }), JSON_LOC],
    ['google-vertex', vertexOf({ private_key: 'none' }), JSON_LOC],
  ])('S08 422 names the member: %s %j', (slug, sent, loc) => {
    expect(faults(slug, sent)).toEqual([loc]);
  });

  it.each([
    'http://mine.openai.azure.com',
    'https://mine.openai.azure.com:8443',
    'https://openai.azure.com',
    'https://mine.openai.azure.com.evil.example',
    'https://evilopenai.azure.com',
    'https://mine.openai.azure.com@evil.example',
    'https://user:pass@mine.openai.azure.com',
    'https://evil.example/.openai.azure.com',
    'https://evil.example#.openai.azure.com',
    'https://127.0.0.1',
    'https://[::1]',
    'https://2130706433',
    'ftp://mine.openai.azure.com',
    'mine.openai.azure.com',
  ])('S08 refuses the look-alike endpoint %s', (endpoint) => {
    expect(faults('azure', { ...AZURE, endpoint })).toEqual(['credentials.endpoint']);
  });
});
