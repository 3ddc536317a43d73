import fc from 'fast-check';
import { cut, scrub, scrubProviderText } from './scrub.js';

describe('a text that is cut', () => {
  it.each([
    ['a\u{10000}b', 2, 'a'],
    ['a\u{10ffff}b', 2, 'a'],
    ['a\u{10000}b', 3, 'a\u{10000}'],
    ['a\u{10000}', 3, 'a\u{10000}'],
    ['a\ud7ffb', 2, 'a\ud7ff'],
    ['a\ue000b', 2, 'a\ue000'],
    ['ab', 2, 'ab'],
  ])('%j to %i: %j, so that no pair is parted', (text, length, left) => {
    expect(cut(text, length)).toBe(left);
  });
});

describe('a long token', () => {
  it.each([
    ['random letters and digits', 'Zx8Qm2Vt7Lp4Rk9Wc3Yb6Nd1Hf5Jg0SaTuEoIiP', true],
    ['one letter', 'a'.repeat(40), false],
    ['words', 'the-model-that-was-asked-for-is-not-there-now', false],
    ['a hash in hex', '0123456789abcdef0123456789abcdef01234567', false],
  ])('of %s is a credential: %#', (_name, token, isHidden) => {
    expect(scrub(`see ${token} here`).includes(token)).toBe(!isHidden);
  });
});

describe('ERR-10 an address in the text of a provider', () => {
  it.each([
    'http://10.0.0.5:8000/v1',
    'https://192.168.1.7/health',
    'http://[fd00::12]:8000/v1/chat',
    'http://vllm-0.models.svc.cluster.local:8000',
    'http://vllm:8000/v1',
    'http://localhost:11434/api/chat',
    'https://gpu-7.internal/v1',
    'https://acme-east.openai.azure.com/openai/v1',
    'https://bucket-of-ours.s3.eu-west-1.amazonaws.com/key',
    'https://inference.example.com:8443/v1',
    '10.0.0.5:8000',
    '172.16.4.2',
    '169.254.169.254',
    'fe80::1ff:fe23:4567:890a',
    '::1',
    'worker-3.internal',
    'vllm-0.models.svc.cluster.local',
    'localhost:11434',
    'acme-east.openai.azure.com',
  ])('%s is not shown', (address) => {
    for (const text of [
      `connect to ${address} failed`,
      `"${address}"`,
      `(${address}),`,
      `${address}.`,
      address,
    ])
      expect(scrubProviderText(text)).not.toContain(address.replace(/^\w+:\/\//, '').split('/')[0]);
  });

  it('no IPv4 address is shown, wherever it stands', () => {
    const around = fc.constantFrom('', ' ', '"', '(', '=', '@', ', ', '\n');
    fc.assert(
      fc.property(fc.ipV4(), fc.option(fc.integer({ min: 10, max: 65_535 })), around, (ip, port, by) => {
        const address = port === null ? ip : `${ip}:${port}`;
        expect(scrubProviderText(`dial tcp${by || ' '}${address}${by}: refused`)).not.toContain(ip);
      }),
    );
  });

  it.each([
    'See https://platform.openai.com/docs/guides/error-codes for more.',
    'Visit https://console.anthropic.com/settings/billing.',
    'The model gpt-5.4-2026-03-05 takes 1.5 to 2.25 seconds (v1.2.3), at 12:30:45 on 2026-11-27T12:30:45Z.',
    'temperature: 0.5 is not in [0, 1]; see section 3.2.1: limits',
    "Invalid type for 'messages[0].content': expected a string",
    'Use std::vector',
    'The model us.anthropic.claude-opus-4-8-v1:0 was not found or your project does not have access to it.',
    'Ask in the us-central office, east-2 wing.',
  ])('leaves %s', (text) => {
    expect(scrubProviderText(text)).toBe(text);
  });
});

describe('ERR-10 where an account is, and its projects', () => {
  it.each([
    ...['us-east-1', 'eu-west-3', 'ap-southeast-2', 'us-gov-west-1', 'ca-central-1', 'us-east-1a'],
    ...['us-central1', 'europe-west4', 'northamerica-northeast1', 'asia-southeast1-b', 'me-central2'],
  ])('%s is not shown', (region) => {
    expect(scrubProviderText(`It is not served in region ${region}.`)).toBe(
      'It is not served in region [redacted].',
    );
  });

  it.each([
    ['The API was not used in project ours before.', 'ours'],
    ['Quota of project: team-prod is exhausted', 'team-prod'],
    ['Project #98765 is closed', '98765'],
    ["It is not in region 'swedencentral'", 'swedencentral'],
  ])('%s does not show %s', (text, name) => {
    expect(scrubProviderText(text)).not.toContain(name);
  });
});
