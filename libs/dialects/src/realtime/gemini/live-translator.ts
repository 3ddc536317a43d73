import { isObject, objectOf, objectsOf, textOf, type JsonObject } from '../../body/json-object.js';
import type { RealtimeTranslator } from '../realtime-dialect.js';
import { CALLS_MAX, grown, Held, isPossible, lengthOf } from './live-bounds.js';
import { LiveResponse } from './live-response.js';
import { detectsTurns, merged, mimeTypeOf, setupOf, unsupported } from './live-setup.js';

type Both = ReturnType<RealtimeTranslator['sent']>;

const NOTHING: Both = { provider: [], caller: [] };
/** Bounds of what waits for the provider's set-up, audio included, and for the next response. */
const WAITING_MAX = { count: 1_000, length: 16 * 1_048_576 };
/** Size of all settings together: an update adds to those before. */
const SESSION_LENGTH_MAX = 1_048_576;
const TRANSCRIPT = 'conversation.item.input_audio_transcription';

/**
 * A session of the Live API. The setup is held until the first event that is none of the session's, because a second one
 * closes the socket; everything after it waits until the provider has taken it.
 */
export class LiveTranslator implements RealtimeTranslator {
  private session: JsonObject;
  private state: 'new' | 'opening' | 'open' = 'new';
  private readonly held = waiting();
  private turn: LiveResponse | null = null;
  private usage: JsonObject | null = null;
  /** Turns of the caller since the last response. */
  private readonly turns = waiting();
  private readonly outputs = waiting();
  /** The caller waits for a response, though nothing be in it. */
  private isAsked = false;
  /** Names of functions by the id of their call, the newest last. */
  private readonly calls = new Map<string, string>();
  private isSpeaking = false;
  private heardItem: string | null = null;
  private heard = '';

  constructor(
    private readonly upstreamModel: string,
    private readonly newId: (kind: string) => string,
  ) {
    const defaults = { type: 'realtime', object: 'realtime.session', output_modalities: ['audio'] };
    this.session = { ...defaults, id: newId('sess'), model: upstreamModel };
  }

  get heldLength(): number {
    return this.held.length + this.turns.length + this.outputs.length;
  }

  opened(): JsonObject[] {
    return [this.event('session.created', { session: this.session })];
  }

  sent(event: JsonObject): Both {
    switch (event.type) {
      case 'session.update':
        return this.update(event);
      case 'input_audio_buffer.append':
        return this.append(event);
      case 'input_audio_buffer.commit':
        return this.commit(event);
      case 'conversation.item.create':
        return this.item(objectOf(event.item), event);
      case 'response.create':
        return this.respond(event);
      case 'response.cancel':
        if (this.turn !== null) this.turn.cancelled ??= 'client_cancelled';
        return NOTHING;
      case 'conversation.item.truncate':
        // The provider keeps what was heard of an answer that was interrupted by itself.
        return answered([this.event('conversation.item.truncated', { item_id: event.item_id ?? null })]);
      default:
        return this.refused(event, `The model has no ${textOf(event.type).slice(0, 80)}.`, 'type');
    }
  }

  received(message: JsonObject): Both | null {
    if (!isPossible(message)) return null;
    const { setupComplete, serverContent, toolCall, usageMetadata } = message;
    if (isObject(usageMetadata)) this.usage = usageMetadata;
    if (setupComplete !== undefined) {
      this.state = 'open';
      return { provider: this.held.take(), caller: [] };
    }
    if (isObject(serverContent)) return answered(this.content(serverContent));
    return isObject(toolCall) ? answered(this.called(toolCall)) : NOTHING;
  }

  private update(event: JsonObject): Both {
    const next = merged(this.session, objectOf(event.session));
    const param = unsupported(next);
    if (param !== null) return this.refused(event, `The model cannot carry ${param}.`, param);
    if (lengthOf(next) > SESSION_LENGTH_MAX)
      return this.refused(event, 'The settings are too long.', 'session');
    if (this.state !== 'new')
      return this.refused(event, 'The session of this model cannot be changed once it is used.', 'session');
    this.session = next;
    return answered([this.event('session.updated', { session: next })]);
  }

  private append(event: JsonObject): Both {
    const data = textOf(event.audio);
    const messages: JsonObject[] = [];
    if (!detectsTurns(this.session) && !this.isSpeaking) {
      this.isSpeaking = true;
      messages.push({ realtimeInput: { activityStart: {} } });
    }
    messages.push({ realtimeInput: { audio: { mimeType: mimeTypeOf(this.session), data } } });
    return this.pass(event, messages);
  }

  private commit(event: JsonObject): Both {
    const isOwn = !detectsTurns(this.session);
    const ends = isOwn ? { activityEnd: {} } : { audioStreamEnd: true };
    this.isSpeaking = false;
    const item_id = this.hearing();
    const committed = this.event('input_audio_buffer.committed', { item_id, previous_item_id: null });
    return this.pass(event, [{ realtimeInput: ends }], [committed]);
  }

  private item(item: JsonObject, event: JsonObject): Both {
    if (item.type === 'function_call_output') {
      const id = textOf(item.call_id);
      const name = this.calls.get(id);
      if (name === undefined) return this.refused(event, 'No call of this id was made.', 'item.call_id');
      if (!this.outputs.add({ id, name, response: { output: item.output ?? '' } })) return this.full(event);
    } else {
      const content = contentOf(item, mimeTypeOf(this.session));
      if (content === null) return this.refused(event, 'The model cannot carry this item.', 'item.content');
      if (!this.turns.add(content)) return this.full(event);
    }
    const shown = { id: this.newId('item'), status: 'completed', ...item };
    return answered(
      ['added', 'done'].map((end) =>
        this.event(`conversation.item.${end}`, { previous_item_id: null, item: shown }),
      ),
    );
  }

  private respond(event: JsonObject): Both {
    const [turns, outputs] = [this.turns.take(), this.outputs.take()];
    this.isAsked = true;
    const messages: JsonObject[] = [];
    const isCall = outputs.length > 0;
    // What was spoken is answered by its end.
    if (turns.length > 0 || (!isCall && this.heardItem === null))
      messages.push({ clientContent: { turns, turnComplete: !isCall } });
    if (isCall) messages.push({ toolResponse: { functionResponses: outputs } });
    return this.pass(event, messages);
  }

  private content(content: JsonObject): JsonObject[] {
    const events = this.transcribed(objectOf(content.inputTranscription));
    if (content.interrupted === true && this.turn !== null) {
      events.push(this.event('input_audio_buffer.speech_started', { item_id: this.hearing() }));
      this.turn.cancelled ??= 'turn_detected';
    }
    if (content.modelTurn !== undefined || content.outputTranscription !== undefined) {
      events.push(...this.heardAll(), ...this.begun());
      events.push(...(this.turn?.content(content) ?? []));
    }
    // An end of nothing, which nobody asked for and which counts nothing, is no response.
    const isEmpty = this.turn === null && this.usage === null && !this.isAsked;
    if (content.turnComplete === true && !isEmpty) events.push(...this.begun(), ...this.ended());
    return events;
  }

  /** The caller answers a call before the provider goes on: for the caller that is another response. */
  private called(toolCall: JsonObject): JsonObject[] {
    const events = [...this.heardAll(), ...this.begun()];
    for (const call of objectsOf(toolCall.functionCalls)) {
      this.calls.set(textOf(call.id), textOf(call.name));
      if (this.calls.size > CALLS_MAX) this.calls.delete([...this.calls.keys()][0]);
      events.push(...(this.turn?.call(call) ?? []));
    }
    // What is not counted here is counted with the end of the provider's turn.
    this.usage ??= {};
    return [...events, ...this.ended()];
  }

  private begun(): JsonObject[] {
    if (this.turn !== null) return [];
    this.turn = new LiveResponse(this.newId);
    return this.turn.begin();
  }

  private ended(): JsonObject[] {
    const events = this.turn?.end(this.usage) ?? [];
    [this.turn, this.usage, this.isAsked] = [null, null, false];
    return events;
  }

  private transcribed({ text, finished }: JsonObject): JsonObject[] {
    const delta = textOf(text);
    const events: JsonObject[] = [];
    if (delta !== '') {
      this.heard = grown(this.heard, delta);
      const at = { item_id: this.hearing(), content_index: 0 };
      events.push(this.event(`${TRANSCRIPT}.delta`, { ...at, delta }));
    }
    return finished === true ? [...events, ...this.heardAll()] : events;
  }

  /** Ends the caller's input when the model speaks. It has no count of its own: it is in that of the response. */
  private heardAll(): JsonObject[] {
    const [item_id, transcript] = [this.heardItem, this.heard];
    [this.heardItem, this.heard] = [null, ''];
    if (item_id === null || transcript === '') return [];
    return [this.event(`${TRANSCRIPT}.completed`, { item_id, content_index: 0, transcript, usage: null })];
  }

  private hearing(): string {
    return (this.heardItem ??= this.newId('item'));
  }

  private pass(event: JsonObject, messages: JsonObject[], caller: JsonObject[] = []): Both {
    if (this.state === 'open') return { provider: messages, caller };
    if (!messages.every((message) => this.held.add(message))) return this.full(event);
    if (this.state === 'opening') return { provider: [], caller };
    this.state = 'opening';
    return { provider: [setupOf(this.session, this.upstreamModel)], caller };
  }

  private full(event: JsonObject): Both {
    return this.refused(event, 'Too much waits for the next response.', 'type');
  }

  private refused(event: JsonObject, message: string, param: string): Both {
    const named = typeof event.event_id === 'string' ? event.event_id : null;
    const error = { type: 'invalid_request_error', code: 'unsupported_operation', message, param };
    return answered([this.event('error', { error: { ...error, event_id: named } })]);
  }

  private event(type: string, more: JsonObject): JsonObject {
    return { type, event_id: this.newId('event'), ...more };
  }
}

function waiting(): Held {
  return new Held(WAITING_MAX.count, WAITING_MAX.length);
}

function answered(caller: JsonObject[]): Both {
  return { provider: [], caller };
}

const DATA_URL = /^data:(image\/[\w.+-]{1,40});base64,/;

/** A message as a turn of the provider's; null where a part of it has no word there. */
function contentOf({ role, content }: JsonObject, audioType: string): JsonObject | null {
  const parts = objectsOf(content).map((part) => partOf(part, audioType));
  if (parts.length === 0 || parts.includes(null)) return null;
  return { role: role === 'assistant' ? 'model' : 'user', parts };
}

function partOf(part: JsonObject, audioType: string): JsonObject | null {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return { text: textOf(part.text) };
    case 'input_audio':
      return { inlineData: { mimeType: audioType, data: textOf(part.audio) } };
    case 'input_image': {
      const url = textOf(part.image_url);
      const mimeType = DATA_URL.exec(url)?.[1];
      return mimeType === undefined
        ? null
        : { inlineData: { mimeType, data: url.slice(url.indexOf(',') + 1) } };
    }
    default:
      return null;
  }
}
