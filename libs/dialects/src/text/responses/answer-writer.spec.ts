import { ApiError } from '@gateway/contracts';
import type { ModelEvent } from '../model-event.js';
import { AnswerWriter } from './answer-writer.js';
import { END, FACTS, finish, read, START } from './responses.fixture.js';
import { OWN_FORMAT, unseal } from './sealed-reasoning.js';

type Json = Record<string, unknown>;

const ANTHROPIC = 'anthropic-claude-v1';
const text = (said: string, logprobs?: unknown): ModelEvent => ({
  type: 'text',
  choice: 0,
  text: said,
  ...(logprobs === undefined ? {} : { logprobs }),
});
const refusal = (said: string): ModelEvent => ({ type: 'refusal', choice: 0, text: said });
const reasoning = (said: string, format = ANTHROPIC): ModelEvent => ({
  type: 'reasoning',
  choice: 0,
  text: said,
  format,
});
const opaque = (data: string, format: string): ModelEvent => ({
  type: 'opaque_reasoning',
  choice: 0,
  data,
  format,
});

function writer(more: object = {}): AnswerWriter {
  return new AnswerWriter(FACTS, read({ model: 'acme/model', input: 'Hello', ...more }));
}

const written = (events: readonly ModelEvent[], more: object = {}): Json[] => {
  const writes = writer(more);
  return events.flatMap((event) => writes.write(event));
};

/** Returns the events between the two that begin a response and the one that ends it, without their numbers. */
function content(events: readonly ModelEvent[], more: object = {}): Json[] {
  const all = written([START, ...events, END], more);
  return all.slice(2, -1).map(({ sequence_number: _number, ...event }) => event);
}

const outputOf = (objects: readonly Json[]): unknown => (objects.at(-1)?.response as Json).output;

describe('the events of a response', () => {
  it('RESP-01 begin, number and end it, and nothing is said twice or after the end', () => {
    const all = written([START, START, text('a'), finish('stop'), END, text('late'), END]);
    expect(all.map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    expect(all.map(({ sequence_number }) => sequence_number)).toEqual(all.map((_, at) => at));
    for (const { response } of all.slice(0, 2))
      expect(response).toMatchObject({ status: 'in_progress', output: [], usage: null, completed_at: null });
    expect(all.at(-1)?.response).toMatchObject({
      status: 'completed',
      error: null,
      incomplete_details: null,
    });
  });

  it('RESP-01 are none for pings, sound, errors in words of the upstream and other choices', () => {
    const failure = { kind: 'in_band' as const, body: null, status: null, message: 'x' };
    const silent: ModelEvent[] = [
      { type: 'ping' },
      { type: 'audio', choice: 0, audio: {} },
      { type: 'error', failure },
      { type: 'text', choice: 1, text: 'other' },
    ];
    expect(written(silent)).toEqual([]);
    expect(content([text(''), refusal(''), reasoning('')])).toEqual([]);
  });

  it('RESP-05 of texts carry each piece with its probabilities, and the part whole at its end', () => {
    const [one, two] = [{ token: 'a' }, { token: 'b' }];
    const events = content([text('a', { content: [one] }), text('b', { content: [two] })]);
    const item_id = (events[0].item as Json).id;
    expect(item_id).toMatch(/^msg_/);
    const at = { item_id, output_index: 0, content_index: 0 };
    const empty = { type: 'output_text', annotations: [], logprobs: [], text: '' };
    const part = { ...empty, logprobs: [one, two], text: 'ab' };
    const item = { id: item_id, type: 'message', role: 'assistant' };
    expect(events).toEqual([
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { ...item, status: 'in_progress', content: [] },
      },
      { type: 'response.content_part.added', ...at, part: empty },
      { type: 'response.output_text.delta', ...at, delta: 'a', logprobs: [one] },
      { type: 'response.output_text.delta', ...at, delta: 'b', logprobs: [two] },
      { type: 'response.output_text.done', ...at, text: 'ab', logprobs: [one, two] },
      { type: 'response.content_part.done', ...at, part },
      {
        type: 'response.output_item.done',
        output_index: 0,
        item: { ...item, status: 'completed', content: [part] },
      },
    ]);
  });

  it('RESP-05 of a refusal after a text close the text and open a part of their own in the same message', () => {
    const events = content([text('a'), refusal('no'), refusal('!')]).slice(3);
    expect(events.map(({ type, content_index: at }) => [type, at])).toEqual([
      ['response.output_text.done', 0],
      ['response.content_part.done', 0],
      ['response.content_part.added', 1],
      ['response.refusal.delta', 1],
      ['response.refusal.delta', 1],
      ['response.refusal.done', 1],
      ['response.content_part.done', 1],
      ['response.output_item.done', undefined],
    ]);
    expect(events[3]).toMatchObject({ delta: 'no' });
    expect(events[5]).toMatchObject({ refusal: 'no!' });
    expect((events.at(-1)?.item as Json).content).toMatchObject([
      { type: 'output_text', text: 'a' },
      { type: 'refusal', refusal: 'no!' },
    ]);
  });

  it('RESP-05 of a citation before the first text follow the beginning of that text, and are none without one', () => {
    const cited: ModelEvent = {
      type: 'citation',
      choice: 0,
      citation: { url: 'https://a.example', title: 'A' },
    };
    const events = content([cited, text('a')]);
    expect(events.map(({ type }) => type)).toEqual([
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.annotation.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
    ]);
    expect(outputOf(written([cited, text('a'), END]))).toMatchObject([
      { content: [{ text: 'a', annotations: [{ url: 'https://a.example' }] }] },
    ]);
    expect(content([cited])).toEqual([]);
  });

  it('RESP-05 of citations count on in the text they stand in; without a text there is none', () => {
    const citation = (url: string): ModelEvent => ({
      type: 'citation',
      choice: 0,
      citation: { url, title: 'T' },
    });
    expect(content([citation('https://a.example')])).toEqual([]);
    expect(content([refusal('no'), citation('https://a.example')]).map(({ type }) => type)).not.toContain(
      'response.output_text.annotation.added',
    );
    const events = content([
      text('x'),
      refusal('y'),
      text('z'),
      citation('https://a'),
      citation('https://b'),
    ]);
    const added = events.filter(({ type }) => type === 'response.output_text.annotation.added');
    expect(added.map(({ content_index: at, annotation_index: n }) => [at, n])).toEqual([
      [2, 0],
      [2, 1],
    ]);
    expect(added[1]).toMatchObject({ annotation: { type: 'url_citation', url: 'https://b' } });
    const done = events.findLast(({ type }) => type === 'response.content_part.done');
    expect(done?.part).toMatchObject({ annotations: [{ url: 'https://a' }, { url: 'https://b' }] });
  });

  it.each([
    [
      'a summary, where one was asked for',
      { reasoning: { summary: 'auto' } },
      {
        added: 'response.reasoning_summary_part.added',
        said: 'response.reasoning_summary_text',
        end: 'response.reasoning_summary_part.done',
      },
      { summary_index: 0 },
      { summary: [{ type: 'summary_text', text: 'ab' }] },
    ],
    [
      'content, where none was',
      {},
      {
        added: 'response.content_part.added',
        said: 'response.reasoning_text',
        end: 'response.content_part.done',
      },
      { content_index: 0 },
      { summary: [], content: [{ type: 'reasoning_text', text: 'ab' }] },
    ],
  ])('RESP-05 of reasoning are %s', (_what, more, { added, said, end }, index, shown) => {
    const events = content([reasoning('a'), reasoning('b'), text('c')], more).slice(0, 6);
    const item_id = (events[0].item as Json).id;
    expect(item_id).toMatch(/^rs_/);
    const at = { item_id, output_index: 0, ...index };
    const [part] = 'content' in shown ? shown.content : shown.summary;
    expect(events).toEqual([
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { id: item_id, type: 'reasoning', summary: [], status: 'in_progress' },
      },
      { type: added, ...at, part: { ...part, text: '' } },
      { type: `${said}.delta`, ...at, delta: 'a' },
      { type: `${said}.delta`, ...at, delta: 'b' },
      { type: `${said}.done`, ...at, text: 'ab' },
      { type: end, ...at, part },
    ]);
    const item = { id: item_id, type: 'reasoning', ...shown };
    expect(outputOf(written([reasoning('a'), reasoning('b'), END], more))).toEqual([item]);
  });

  it('RESP-05 of a signature end the reasoning, sealed with its text; what follows is an item of its own', () => {
    const signed: ModelEvent = {
      type: 'reasoning_signature',
      choice: 0,
      signature: 'sig',
      format: ANTHROPIC,
    };
    const [one, two] = outputOf(written([reasoning('a'), signed, reasoning('b'), END])) as Json[];
    expect(unseal(String(one.encrypted_content))).toEqual({ format: ANTHROPIC, signature: 'sig', text: 'a' });
    expect(two).toMatchObject({ content: [{ text: 'b' }] });
    expect(two).not.toHaveProperty('encrypted_content');
  });

  it('RESP-05 of unreadable reasoning are an item with its content alone: its own as it came, another’s sealed', () => {
    for (const [format, isOwn] of [
      [OWN_FORMAT, true],
      [ANTHROPIC, false],
    ] as const) {
      const events = content([text('x'), opaque('secret', format)]).slice(-2);
      const item = events[1].item as Json;
      expect(events).toEqual([
        { type: 'response.output_item.added', output_index: 1, item: { ...item, status: 'in_progress' } },
        { type: 'response.output_item.done', output_index: 1, item },
      ]);
      expect(item).toEqual({
        id: expect.stringMatching(/^rs_/),
        type: 'reasoning',
        summary: [],
        encrypted_content: expect.any(String),
      });
      const sealed = String(item.encrypted_content);
      expect(isOwn ? sealed : unseal(sealed)).toEqual(isOwn ? 'secret' : { format, data: 'secret' });
    }
  });

  it('RESP-05 of unreadable reasoning belong to what its own upstream has shown of it, and to nothing of another', () => {
    const own = outputOf(written([reasoning('a', OWN_FORMAT), opaque('secret', OWN_FORMAT), END])) as Json[];
    expect(own).toMatchObject([{ content: [{ text: 'a' }], encrypted_content: 'secret' }]);
    const [shown, hidden] = outputOf(written([reasoning('a'), opaque('secret', ANTHROPIC), END])) as Json[];
    expect(shown).toMatchObject({ content: [{ text: 'a' }] });
    expect(shown).not.toHaveProperty('encrypted_content');
    expect(unseal(String(hidden.encrypted_content))).toEqual({ format: ANTHROPIC, data: 'secret' });
  });

  it('RESP-01 name the tier in OpenAI’s words and items by the response’s id without its hyphens', () => {
    const tierOf = (serviceTier: string | null): unknown =>
      (written([{ ...START, serviceTier }])[0].response as Json).service_tier;
    expect([tierOf(null), tierOf('standard'), tierOf('flex')]).toEqual(['default', 'default', 'flex']);
    expect((content([text('a')])[0].item as Json).id).toMatch(/^msg_gw00001\d+$/);
  });

  it('RESP-05 of a signature without a text show no summary', () => {
    const signed: ModelEvent = {
      type: 'reasoning_signature',
      choice: 0,
      signature: 'sig',
      format: ANTHROPIC,
    };
    const output = outputOf(written([signed, END], { reasoning: { summary: 'auto' } }));
    expect(output).toMatchObject([{ type: 'reasoning', summary: [] }]);
  });

  it.each([
    ['length', 'incomplete', 'max_output_tokens'],
    ['content_filter', 'incomplete', 'content_filter'],
    ['tool_calls', 'completed', null],
  ])('RESP-05 of an answer that finished for %s end in %s', (reason, status, why) => {
    const last = written([START, text('a'), finish(reason), END]).at(-1) as Json;
    expect(last).toMatchObject({
      type: `response.${status}`,
      response: {
        status,
        incomplete_details: why === null ? null : { reason: why },
        completed_at: why === null ? 1_700_000_005 : null,
      },
    });
  });

  it('RESP-05 of a call go on after a text between its fragments; a call that is whole ends before a text', () => {
    const call: ModelEvent = { type: 'tool_start', choice: 0, call: 0, id: 'c', name: 'f', custom: false };
    const args = (more: string): ModelEvent => ({ type: 'tool_arguments', choice: 0, call: 0, text: more });
    const cut = content([call, args('{"a":'), text('x'), args('1}'), text('y'), finish('tool_calls')]);
    const item_id = (cut[0].item as Json).id;
    const at = { item_id, output_index: 0 };
    expect(cut.filter((event) => event.output_index === 0).slice(1, -1)).toEqual([
      { type: 'response.function_call_arguments.delta', ...at, delta: '{"a":' },
      { type: 'response.function_call_arguments.delta', ...at, delta: '1}' },
      { type: 'response.function_call_arguments.done', ...at, arguments: '{"a":1}' },
    ]);
    const output = outputOf(written([START, call, args('{"a":'), text('x'), args('1}'), text('y'), END]));
    expect(output).toMatchObject([{ arguments: '{"a":1}' }, { content: [{ text: 'xy' }] }]);
    const whole = content([call, args('{"a":1}'), text('x')]).map(({ type }) => type);
    expect(whole.indexOf('response.output_item.done')).toBe(3);
  });

  it('RESP-05 of a stream that broke off are the error and the failed response, once', () => {
    const writes = writer();
    const error = new ApiError('upstream_error', {
      message: 'It broke.',
      providerCode: 'rate_limit_exceeded',
    });
    const [created, , said, failed] = writes.fail(error, 'req_9');
    expect(created).toMatchObject({ type: 'response.created', sequence_number: 0 });
    expect(said).toMatchObject({
      type: 'error',
      code: 'upstream_error',
      message: 'It broke.',
      param: null,
      request_id: 'req_9',
      sequence_number: 2,
    });
    expect(failed).toMatchObject({
      type: 'response.failed',
      response: { status: 'failed', error: { code: 'rate_limit_exceeded', message: 'It broke.' } },
    });
    expect([...writes.fail(error, 'req_9'), ...writes.write(END), ...writes.write(text('late'))]).toEqual([]);
    const [other] = writer().fail(new ApiError('internal_error'), 'req_9').slice(-1);
    expect(other).toMatchObject({ response: { error: { code: 'server_error' } } });
  });
});
