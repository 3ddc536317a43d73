import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { startUpstreamSim, type UpstreamSim } from './upstream-sim.js';

describe('simulated endpoints', () => {
  let sim: UpstreamSim;

  beforeAll(async () => {
    sim = await startUpstreamSim();
  });
  afterAll(() => sim.close());

  function moderate(body: object, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(`${sim.url}/v1/moderations`, {
      method: 'POST',
      headers: { authorization: 'Bearer sim', 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  }

  it('are what their generator lists', () => {
    const generator = fileURLToPath(new URL('../generate-registry.mjs', import.meta.url));
    const checkedIn = readFileSync(new URL('sim-endpoints.generated.ts', import.meta.url), 'utf8');
    expect(execFileSync(process.execPath, [generator, '--print'], { encoding: 'utf8' })).toBe(checkedIn);
  });

  it('judge each input of a moderation', async () => {
    const answer = await moderate({ model: 'sim-moderation', input: ['Hello', 'I like violence'] });
    const { results } = (await answer.json()) as { results: { flagged: boolean }[] };
    expect(results.map(({ flagged }) => flagged)).toEqual([false, true]);
  });

  it('refuse without a credential or an input, and fail as a script says', async () => {
    expect((await moderate({ input: 'a' }, { authorization: '' })).status).toBe(401);
    expect((await moderate({})).status).toBe(400);
    expect((await moderate({ input: 'a' }, { 'x-sim': 'error=503-overloaded' })).status).toBe(503);
    expect((await moderate({ input: 'a' }, { 'x-sim': 'nonsense=1' })).status).toBe(400);
    sim.script(['malformed=html']);
    expect((await moderate({ input: 'a' })).headers.get('content-type')).toBe('text/html');
  });
});
