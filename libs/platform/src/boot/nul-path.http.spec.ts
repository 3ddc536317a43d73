import { startProbe } from './probe-app.fixture.js';

it('404 for a path with a NUL, which no id holds; of a query it is the handler that judges', async () => {
  const probe = await startProbe();
  const answer = await fetch(`${probe.url}/v1/open/%00/x`);
  const { error } = (await answer.json()) as { error: { code: string } };
  expect([answer.status, error.code]).toEqual([404, 'not_found']);
  expect((await fetch(`${probe.url}/v1/open?x=%00`)).status).toBe(200);
  await probe.close();
});
