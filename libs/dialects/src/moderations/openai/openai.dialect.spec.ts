import { parseBody, type ParsedBody } from '@gateway/json-body';
import type { AnswerFacts, RouteTarget } from '../../translation/translation.js';
import { dialect } from './openai.dialect.js';

const facts = { model: 'acme/judge' } as AnswerFacts;
const decode = (answer: unknown, inputs = 1): unknown =>
  dialect.decode(Buffer.from(JSON.stringify(answer)), facts, inputs);

describe('moderations of OpenAI', () => {
  it('send the caller’s bytes with the provider’s name of the model', () => {
    const body = parseBody(Buffer.from('{"model":"acme/judge","input":["a", "b"],"x":1.0}')) as ParsedBody;
    const { pieces, byteLength, ...head } = dialect.encode(body, { upstreamModel: 'omni' } as RouteTarget);
    const type = 'application/json';
    expect(head).toEqual({ path: '/moderations', contentType: type, accept: type });
    expect(Buffer.concat(pieces).toString()).toBe('{"input":["a", "b"],"x":1.0,"model":"omni"}');
    expect(byteLength).toBe(Buffer.concat(pieces).byteLength);
  });

  it('USG-18 show the scores as they are, and no money at any depth', () => {
    const results = [{ flagged: true, category_scores: { 'self-harm': 0.1 } }];
    const paid = results.map((result) => ({ ...result, cost: 1 }));
    expect(decode({ id: 'm', model: 'omni', provider: 'OpenAI', results: paid, cost: 1 })).toEqual({
      kind: 'end',
      out: JSON.stringify({ id: 'm', model: 'acme/judge', results }),
      usage: { completion_tokens: 0 },
    });
  });

  it('judge each input, no fewer and no more', () => {
    const results = [{ flagged: false }, { flagged: true }];
    expect(decode({ results }, 2)).toMatchObject({ kind: 'end' });
    for (const inputs of [1, 3])
      expect(decode({ results }, inputs)).toMatchObject({
        kind: 'failure',
        failure: { kind: 'bad_response' },
      });
  });

  it.each([
    [{ id: 'm' }],
    [{ results: {} }],
    [{ results: [] }],
    [{ results: [{ flagged: false }, null] }],
    [[]],
  ])('take %j for no answer', (answer) => {
    expect(decode(answer)).toMatchObject({ kind: 'failure', failure: { kind: 'bad_response' } });
  });
});
