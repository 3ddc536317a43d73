import type { CredentialCounted, LimitStore } from '@gateway/contracts';
import { fixedClock } from '@gateway/testing';
import { limitDrivers } from './conformance.fixture.js';

const START = '2026-03-01T12:00:30.000Z';
const MINUTE = Date.parse('2026-03-01T12:00:00.000Z') / 60_000;
const of = (more: object = {}) => ({ id: 'cred_a', rpm: null, tpm: null, tokens: 10, ...more });

const { drivers } = limitDrivers();

describe.each(drivers)('limits of a platform credential, $name', (driver) => {
  const begin = async (): Promise<{ store: LimitStore; clock: ReturnType<typeof fixedClock> }> => {
    await driver.reset();
    const clock = fixedClock(START);
    return { store: driver.make(clock), clock };
  };

  it('requests of a minute are exact however many come at once, and begin anew as it rolls', async () => {
    const { store, clock } = await begin();
    const burst = () =>
      Promise.all(Array.from({ length: 12 }, () => store.countOnCredential(of({ rpm: 5 }))));
    const isCounted = (one: CredentialCounted): boolean => 'minute' in one;
    const first = await burst();
    expect(first.filter(isCounted)).toEqual(Array.from({ length: 5 }, () => ({ minute: MINUTE })));
    expect(first.at(-1)).toEqual({ fullForMs: 30_000 });
    expect(await store.countOnCredential(of({ id: 'cred_b', rpm: 5 }))).toEqual({ minute: MINUTE });
    await clock.advance(30_000);
    expect((await burst()).filter(isCounted)).toHaveLength(5);
  });

  it('tokens count as estimated until they are known, and what was less makes room again', async () => {
    const { store } = await begin();
    const ask = () => store.countOnCredential(of({ tpm: 100, tokens: 100 }));
    expect(await ask()).toEqual({ minute: MINUTE });
    expect(await ask()).toEqual({ fullForMs: 30_000 });
    await store.correctCredential({ id: 'cred_a', minute: MINUTE, tokens: -40 });
    expect(await ask()).toEqual({ minute: MINUTE });
    await store.correctCredential({ id: 'cred_a', minute: MINUTE, tokens: -1_000 });
    expect(await ask()).toEqual({ minute: MINUTE });
  });

  it('a correction that comes after its minute changes nothing, and one of no credential neither', async () => {
    const { store, clock } = await begin();
    await store.countOnCredential(of({ tpm: 50, tokens: 10 }));
    await clock.advance(60_000);
    await store.countOnCredential(of({ tpm: 50, tokens: 50 }));
    await store.correctCredential({ id: 'cred_a', minute: MINUTE, tokens: -50 });
    await store.correctCredential({ id: 'cred_never', minute: MINUTE, tokens: 5 });
    expect(await store.countOnCredential(of({ tpm: 50 }))).toEqual({ fullForMs: 30_000 });
  });
});
