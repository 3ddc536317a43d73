import type { JsonObject } from '../../body/json-object.js';
import { dialect } from './gemini.dialect.js';
import { LiveTranslator } from './live-translator.js';

function session(): LiveTranslator {
  let count = 0;
  return new LiveTranslator('gemini-live', (kind) => `${kind}_${(count += 1)}`);
}

const typesOf = (events: JsonObject[]): unknown[] => events.map(({ type }) => type);
const heard = (live: LiveTranslator, message: JsonObject): JsonObject[] =>
  live.received(message)?.caller ?? [];
const update = (more: JsonObject): JsonObject => ({ type: 'session.update', session: more });
const say = (text: string): JsonObject => ({
  type: 'conversation.item.create',
  item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
});

function opened(more: JsonObject = {}): LiveTranslator {
  const live = session();
  live.sent(update(more));
  live.sent({ type: 'input_audio_buffer.append', audio: 'AA==' });
  live.received({ setupComplete: {} });
  return live;
}

describe('a session of Google’s Live API', () => {
  it('is opened at the path of the Live API', () => {
    expect(dialect.open('m')).toMatchObject({
      method: 'GET',
      path: '/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent',
    });
  });

  it('RT-01 sends one setup before the first event that is none of the session’s, and holds the rest', () => {
    const live = session();
    expect(live.opened()).toMatchObject([{ type: 'session.created', session: { model: 'gemini-live' } }]);
    const tools = [{ type: 'function', name: 'f', description: 'd', parameters: { type: 'object' } }];
    const audio = {
      input: { turn_detection: null, transcription: {} },
      output: { voice: 'Puck' },
    };
    const settings = { instructions: 'Be brief.', max_output_tokens: 50, tools, audio };
    expect(live.sent(update(settings))).toMatchObject({
      provider: [],
      caller: [{ type: 'session.updated', session: { instructions: 'Be brief.' } }],
    });
    expect(live.sent({ type: 'input_audio_buffer.append', audio: 'AA==' }).provider).toEqual([
      {
        setup: {
          model: 'models/gemini-live',
          generationConfig: {
            responseModalities: ['AUDIO'],
            maxOutputTokens: 50,
            speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Puck' } } },
          },
          systemInstruction: { parts: [{ text: 'Be brief.' }] },
          tools: [
            {
              functionDeclarations: [{ name: 'f', description: 'd' }],
            },
          ],
          inputAudioTranscription: {},
          outputAudioTranscription: {},
          realtimeInputConfig: { automaticActivityDetection: { disabled: true } },
        },
      },
    ]);
    expect(live.sent({ type: 'input_audio_buffer.commit' }).provider).toEqual([]);
    expect(live.received({ setupComplete: {} })?.provider).toEqual([
      { realtimeInput: { activityStart: {} } },
      { realtimeInput: { audio: { mimeType: 'audio/pcm;rate=24000', data: 'AA==' } } },
      { realtimeInput: { activityEnd: {} } },
    ]);
    const late = live.sent({ ...update({ instructions: 'x' }), event_id: 'e1' });
    expect(late).toMatchObject({
      provider: [],
      caller: [{ type: 'error', error: { type: 'invalid_request_error', event_id: 'e1' } }],
    });
  });

  it('turns texts into content, and its turn into a response with its counts', () => {
    const live = opened({ output_modalities: ['text'] });
    expect(typesOf(live.sent(say('Hello')).caller)).toEqual([
      'conversation.item.added',
      'conversation.item.done',
    ]);
    expect(live.sent({ type: 'response.create' }).provider).toEqual([
      { clientContent: { turns: [{ role: 'user', parts: [{ text: 'Hello' }] }], turnComplete: true } },
    ]);
    const parts = [{ text: 'Hi' }, { text: 'hidden', thought: true }];
    const first = heard(live, { serverContent: { modelTurn: { parts } } });
    expect(typesOf(first)).toEqual([
      'response.created',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
    ]);
    const usageMetadata = {
      promptTokenCount: 12,
      toolUsePromptTokenCount: 3,
      cachedContentTokenCount: 4,
      responseTokenCount: 7,
      thoughtsTokenCount: 2,
      promptTokensDetails: [{ modality: 'AUDIO', tokenCount: 5 }],
      responseTokensDetails: [{ modality: 'AUDIO', tokenCount: 6 }],
    };
    const last = heard(live, { serverContent: { turnComplete: true }, usageMetadata });
    expect(typesOf(last)).toEqual([
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.done',
    ]);
    expect(last.at(-1)).toMatchObject({
      response: {
        status: 'completed',
        output: [{ type: 'message', content: [{ type: 'output_text', text: 'Hi' }] }],
        usage: {
          input_tokens: 15,
          output_tokens: 9,
          total_tokens: 24,
          input_token_details: { cached_tokens: 4, audio_tokens: 5, text_tokens: 10 },
          output_token_details: { audio_tokens: 6, text_tokens: 3 },
        },
      },
    });
    const next = heard(live, { serverContent: { modelTurn: { parts: [{ text: 'b' }] } } });
    expect(next[0]).toMatchObject({ type: 'response.created' });
    expect(heard(live, { serverContent: { turnComplete: true } }).at(-1)).toMatchObject({
      response: { usage: null },
    });
  });

  it('passes sound and what was said on, the caller’s own words before the answer', () => {
    const live = opened();
    const own = heard(live, { serverContent: { inputTranscription: { text: 'Hi ' } } });
    expect(own).toMatchObject([{ type: 'conversation.item.input_audio_transcription.delta', delta: 'Hi ' }]);
    const data = 'AAAA';
    const sound = { modelTurn: { parts: [{ inlineData: { mimeType: 'audio/pcm;rate=24000', data } }] } };
    expect(heard(live, { serverContent: sound })).toMatchObject([
      { type: 'conversation.item.input_audio_transcription.completed', transcript: 'Hi ', usage: null },
      { type: 'response.created' },
      { type: 'response.output_item.added', item: { type: 'message', status: 'in_progress', content: [] } },
      { type: 'response.content_part.added', content_index: 0, part: { type: 'audio', transcript: '' } },
      { type: 'response.output_audio.delta', delta: data },
    ]);
    live.received({ serverContent: { outputTranscription: { text: 'Hello' } } });
    const end = heard(live, { serverContent: { turnComplete: true } });
    expect(typesOf(end)).toEqual([
      'response.output_audio.done',
      'response.output_audio_transcript.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.done',
    ]);
    expect(end[3]).toMatchObject({
      item: { status: 'completed', content: [{ type: 'output_audio', transcript: 'Hello' }] },
    });
  });

  it('RT-01 every item has one place in the output, whatever is said before and after a call', () => {
    const live = opened();
    const events = [
      ...heard(live, { serverContent: { outputTranscription: { text: 'Let me look.' } } }),
      ...heard(live, { toolCall: { functionCalls: [{ id: 'c1', name: 'now', args: {} }] } }),
    ];
    const places = events.flatMap(({ type, item, output_index }) =>
      item === undefined ? [] : [[type, (item as JsonObject).type, output_index]],
    );
    expect(places).toEqual([
      ['response.output_item.added', 'message', 0],
      ['response.output_item.added', 'function_call', 1],
      ['response.output_item.done', 'function_call', 1],
      ['response.output_item.done', 'message', 0],
    ]);
    expect(events.at(-1)).toMatchObject({
      response: { output: [{ type: 'message', status: 'completed' }, { type: 'function_call' }] },
    });
    const said = events.filter(({ type }) => String(type).startsWith('response.output_audio'));
    expect(said.map(({ output_index, content_index }) => [output_index, content_index])).toEqual([
      [0, 0],
      [0, 0],
    ]);
  });

  it('a call is a response of its own, and its result goes back under its name', () => {
    const live = opened();
    const functionCalls = [{ id: 'c1', name: 'weather', args: { city: 'Paris' } }];
    const called = heard(live, { toolCall: { functionCalls } });
    expect(typesOf(called)).toEqual([
      'response.created',
      'response.output_item.added',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'response.output_item.done',
      'response.done',
    ]);
    expect(called.at(-1)).toMatchObject({
      response: {
        output: [{ type: 'function_call', call_id: 'c1', arguments: '{"city":"Paris"}' }],
        usage: { total_tokens: 0 },
      },
    });
    const item = { type: 'function_call_output', call_id: 'c1', output: 'sunny' };
    live.sent({ type: 'conversation.item.create', item });
    expect(live.sent({ type: 'response.create' }).provider).toEqual([
      {
        toolResponse: {
          functionResponses: [{ id: 'c1', name: 'weather', response: { output: 'sunny' } }],
        },
      },
    ]);
    const unknown = live.sent({ type: 'conversation.item.create', item: { ...item, call_id: 'c9' } });
    expect(unknown.caller).toMatchObject([{ type: 'error', error: { param: 'item.call_id' } }]);
  });

  it('an answer that the caller interrupts ends as one that was cancelled, counted all the same', () => {
    const live = opened();
    live.received({ serverContent: { modelTurn: { parts: [{ text: 'I was' }] } } });
    expect(typesOf(heard(live, { serverContent: { interrupted: true } }))).toEqual([
      'input_audio_buffer.speech_started',
    ]);
    expect(heard(live, { serverContent: { modelTurn: { parts: [{ text: 'x' }] } } })).toEqual([]);
    const usageMetadata = { promptTokenCount: 1, responseTokenCount: 2 };
    expect(heard(live, { serverContent: { turnComplete: true }, usageMetadata }).at(-1)).toMatchObject({
      response: {
        status: 'cancelled',
        status_details: { reason: 'turn_detected' },
        usage: { total_tokens: 3 },
      },
    });
  });

  it('refuses what the provider has no word for, by the name of the member', () => {
    const refusals: [JsonObject, string][] = [
      [update({ audio: { input: { format: { type: 'audio/pcmu' } } } }), 'session.audio.input.format'],
      [update({ tools: [{ type: 'mcp' }] }), 'session.tools'],
      [update({ output_modalities: ['text', 'audio'] }), 'session.output_modalities'],
      [{ type: 'input_audio_buffer.clear' }, 'type'],
      [
        {
          type: 'conversation.item.create',
          item: { content: [{ type: 'input_image', image_url: 'https://x' }] },
        },
        'item.content',
      ],
    ];
    for (const [event, param] of refusals)
      expect(session().sent(event)).toMatchObject({
        provider: [],
        caller: [{ type: 'error', error: { param } }],
      });
  });

  it('a cancel stops what is passed on until the turn is over', () => {
    const live = opened();
    expect(live.sent({ type: 'response.cancel' })).toEqual({ provider: [], caller: [] });
    live.received({ serverContent: { modelTurn: { parts: [{ text: 'a' }] } } });
    live.sent({ type: 'response.cancel' });
    expect(heard(live, { serverContent: { modelTurn: { parts: [{ text: 'b' }] } } })).toEqual([]);
    const end = heard(live, { serverContent: { turnComplete: true } });
    expect(end.at(-1)).toMatchObject({ response: { status_details: { reason: 'client_cancelled' } } });
  });

  it('messages that are none of the session’s are passed over', () => {
    const live = opened();
    for (const message of [{ goAway: { timeLeft: '10s' } }, { sessionResumptionUpdate: {} }, {}])
      expect(live.received(message)).toEqual({ provider: [], caller: [] });
  });
});
