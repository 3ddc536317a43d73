import { sharedToken } from './shared-token.js';

describe('a token that specs of a run share', () => {
  it('is handed on for two minutes, and never when it is about to end', async () => {
    let now = 0;
    let made = 0;
    const token = sharedToken(
      () => Promise.resolve(`token ${++made}`),
      () => now,
    );
    expect(await token()).toBe('token 1');
    now = 119_999;
    expect(await token()).toBe('token 1');
    now = 120_000;
    expect(await token()).toBe('token 2');
    now = 30 * 60_000;
    expect(await token()).toBe('token 3');
  });

  it('is asked for again after a login that failed', async () => {
    const answers = [
      () => Promise.reject(new Error('/auth/login answered 503')),
      () => Promise.resolve('token'),
    ];
    const token = sharedToken(
      () => answers.shift()!(),
      () => 0,
    );
    await expect(token()).rejects.toThrow('503');
    expect(await token()).toBe('token');
  });
});
