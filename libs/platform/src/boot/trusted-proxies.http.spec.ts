import { startProbe, type Probe } from './probe-app.fixture.js';

describe('X-Forwarded-For', () => {
  let probe: Probe;
  afterEach(() => probe.close());

  async function addressSeen(forwarded: string): Promise<unknown> {
    const answer = await fetch(`${probe.url}/v1/address`, { headers: { 'x-forwarded-for': forwarded } });
    return ((await answer.json()) as { address: unknown }).address;
  }

  it('says nothing where no proxy is trusted', async () => {
    probe = await startProbe();
    expect(await addressSeen('203.0.113.9')).toBe('127.0.0.1');
  });

  it('names the caller before the trusted addresses, and not what a caller adds in front', async () => {
    probe = await startProbe({ trustedProxies: ['127.0.0.1', '10.0.0.0/8'] });
    expect(await addressSeen('203.0.113.9')).toBe('203.0.113.9');
    expect(await addressSeen('1.1.1.1, 203.0.113.9, 10.1.2.3')).toBe('203.0.113.9');
  });

  it('counts hops from this side', async () => {
    probe = await startProbe({ trustedProxies: 1 });
    expect(await addressSeen('1.1.1.1, 203.0.113.9')).toBe('203.0.113.9');
  });

  it('falls back to the connection where it holds no address', async () => {
    probe = await startProbe({ trustedProxies: 1 });
    expect(await addressSeen('unknown<script>')).toBe('127.0.0.1');
  });
});
