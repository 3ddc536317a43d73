import { ApiError } from '@gateway/contracts';
import { FleetSecret, SystemRandom } from '@gateway/platform';
import { fixedClock } from '@gateway/testing/plain';
import { ClientSecrets } from './client-secrets.js';

const clock = fixedClock('2026-11-22T12:00:00.000Z');
const secretsOf = (...tokens: string[]): ClientSecrets =>
  new ClientSecrets(new FleetSecret(tokens), clock, new SystemRandom());
const END = Math.floor(clock.now() / 1_000) + 10;

function opened(secrets: ClientSecrets, text: string): unknown {
  try {
    return secrets.open(text);
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
}

describe('client secrets', () => {
  it('RT-04 are opened by every process of the fleet, also while its token is replaced', () => {
    const secret = secretsOf('old').make('digest', { model: 'a/b' }, END);
    const granted = { credential: { kind: 'key', digest: 'digest' }, session: { model: 'a/b' } };
    expect(opened(secretsOf('old'), secret)).toEqual(granted);
    expect(opened(secretsOf('new', 'old'), secret)).toEqual(granted);
    expect(opened(secretsOf('new'), secret)).toBe('unauthorized');
    expect(opened(secretsOf('old'), 'rsk_none')).toBeNull();
  });

  it('RT-04 end when they were said to', () => {
    const secrets = secretsOf('token');
    const over = secrets.make('digest', { model: 'a/b' }, Math.floor(clock.now() / 1_000));
    expect(opened(secrets, over)).toBe('unauthorized');
  });
});
