import { eventually, startUpstreamDouble, type ScriptedAnswer, type UpstreamDouble } from '@gateway/testing';
import pg from 'pg';
import { startFleet, type Fleet } from '../harness/fleet.js';
import { START_MS } from '../harness/modes.js';
import { ask, type Answered, type Body } from '../harness/requests.js';
import { logIn, type PersonSession } from '../harness/session.js';

/** Answers of the upstream, by the question. */
const ANSWERS: Record<string, () => ScriptedAnswer> = {
  refuse: () => ({
    status: 400,
    // A cut at an even number of characters parts a pair.
    json: { error: { message: `ab\0${'\ud83d\ude00'.repeat(2_000)}\ud800`, code: 'x\0' } },
  }),
  'say it': () => completion({ prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }),
  'count too much': () =>
    completion({ prompt_tokens: 2 ** 53, completion_tokens: 2 ** 63, total_tokens: 2 ** 64 }),
};

function completion(usage: object): ScriptedAnswer {
  const message = { role: 'assistant', content: 'a\0b\ud800' };
  const choices = [{ index: 0, message, finish_reason: 'stop' }];
  const json = { id: 'x\0', object: 'chat.completion', created: 1, model: 'm\0\ud800', choices, usage };
  return { json };
}

/** PostgreSQL keeps no NUL and no half of a surrogate pair: a record with one would be a dead letter, and billed to nobody. */
describe('text that no ledger can keep', () => {
  let fleet: Fleet;
  let upstream: UpstreamDouble;
  let person: PersonSession;
  let database: pg.Client;

  beforeAll(async () => {
    upstream = await startUpstreamDouble(({ body }) => {
      const { messages } = JSON.parse(body.toString()) as { messages: { content: string }[] };
      return ANSWERS[messages[0].content]();
    });
    fleet = await startFleet({ upstream: upstream.url });
    person = await logIn(fleet);
    database = new pg.Client({ connectionString: fleet.databaseUrl });
    await database.connect();
  }, START_MS);
  afterAll(async () => {
    await database?.end();
    await fleet?.stop();
    await upstream?.close();
  }, START_MS);

  const chat = (content: string, more: object = {}): Promise<Answered> =>
    ask(fleet, 'POST', '/v1/chat/completions', {
      body: { model: 'simulator/chat', messages: [{ role: 'user', content }], ...more },
    });
  const posted = ({ requestId }: Answered): Promise<Body> =>
    eventually(
      async () => {
        const path = `/v1/usage/requests/${requestId}`;
        const { status, body } = await ask(fleet, 'GET', path, { key: person.token });
        return status === 200 ? body : null;
      },
      { timeoutMs: 60_000, intervalMs: 100 },
    );
  const deadLetters = async (): Promise<unknown[]> =>
    (await database.query('SELECT reason FROM usage.dead_letter')).rows;

  it('404 of a caller’s own: its refusal is in the ledger', async () => {
    const answer = await chat('say it', { model: 'x\0\ud800' });
    expect(answer.status).toBe(404);
    expect(await posted(answer)).toMatchObject({ outcome: 'rejected', requested_model: 'x\ufffd\ufffd' });
    expect(await deadLetters()).toEqual([]);
  });

  it('400 of a provider’s: its message is in the ledger, cut between two pairs', async () => {
    const answer = await chat('refuse');
    expect(answer.status).toBe(400);
    const { outcome, attempts } = await posted(answer);
    expect(outcome).toBe('failed');
    expect(attempts).toMatchObject([{ http_status: 400, error_code: expect.any(String) as string }]);
    expect(attempts[0].error_message).toMatch(/ab\ufffd(?:\ud83d\ude00){998}$/);
    expect(await deadLetters()).toEqual([]);
  });

  it.each(['say it', 'count too much'])('200 of an answer that holds it is billed: %s', async (content) => {
    const answer = await chat(content, { user: 'u\0\ud800' });
    expect(answer.status).toBe(200);
    expect(answer.body.choices[0].message.content).toBe('a\0b\ud800');
    const { cost_usd: cost, usage_estimated: isEstimated } = await posted(answer);
    expect(Number(cost)).toBeGreaterThan(0);
    expect(isEstimated).toBe(content === 'count too much');
    expect(await deadLetters()).toEqual([]);
  });
});
