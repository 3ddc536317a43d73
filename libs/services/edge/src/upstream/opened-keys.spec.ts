import type { ProviderCredential } from '@gateway/contracts';
import { Deadlines } from '@gateway/platform';
import { fixedClock, seededRandom } from '@gateway/testing/plain';
import { OpenedKeys } from './opened-keys.js';

const GRANT = {
  id: 'pk_1',
  provider: 'openai',
  version: 1,
  allowedModels: null,
  allowPlatformFallback: true,
};
const CREDENTIAL: ProviderCredential = { kind: 'api_key', key: 'sk-1' };

function vaultOf(answer: () => ProviderCredential | null) {
  let calls = 0;
  const open = (): Promise<ProviderCredential | null> => {
    calls += 1;
    return Promise.resolve(answer());
  };
  return { open, calls: () => calls };
}

describe('OpenedKeys', () => {
  it('keeps a plaintext for less than a minute, used or not', async () => {
    const clock = fixedClock('2026-11-22T00:00:00Z');
    const vault = vaultOf(() => CREDENTIAL);
    const keys = new OpenedKeys(vault, new Deadlines(clock), seededRandom(1));
    await keys.credentialOf('acct_1', GRANT);
    await clock.advance(59_000);
    expect([await keys.credentialOf('acct_1', GRANT), vault.calls(), keys.size]).toEqual([CREDENTIAL, 1, 1]);
    await clock.advance(1_000);
    expect(keys.size).toBe(0);
    await keys.credentialOf('acct_1', GRANT);
    expect(vault.calls()).toBe(2);
  });

  it('asks again for another version or account, and holds 1,000 at most', async () => {
    const vault = vaultOf(() => CREDENTIAL);
    const keys = new OpenedKeys(vault, new Deadlines(fixedClock('2026-11-22T00:00:00Z')), seededRandom(1));
    await keys.credentialOf('acct_1', GRANT);
    await keys.credentialOf('acct_1', { ...GRANT, version: 2 });
    await keys.credentialOf('acct_2', GRANT);
    expect(vault.calls()).toBe(3);
    for (let n = 0; n < 1_100; n += 1) await keys.credentialOf('acct_1', { ...GRANT, id: `pk_${n}` });
    expect(keys.size).toBe(1_000);
  });

  it('503 for a key that was changed meanwhile, and asks again the next time', async () => {
    let answer: ProviderCredential | null = null;
    const vault = vaultOf(() => answer);
    const keys = new OpenedKeys(vault, new Deadlines(fixedClock('2026-11-22T00:00:00Z')), seededRandom(1));
    await expect(keys.credentialOf('acct_1', GRANT)).rejects.toMatchObject({ status: 503 });
    answer = CREDENTIAL;
    expect(await keys.credentialOf('acct_1', GRANT)).toEqual(CREDENTIAL);
  });
});
