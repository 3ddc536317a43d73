import { objectOf, objectsOf, textOf, type JsonObject } from '../../body/json-object.js';
import { grown } from './live-bounds.js';
import { usageOf } from './live-usage.js';

type NewId = (kind: string) => string;

/** One response of the model, from its first content to the end of its turn. */
export class LiveTurn {
  readonly id: string;
  /** Where it is cut short: the reason that the caller gets. */
  cancelled: 'turn_detected' | 'client_cancelled' | null = null;
  private readonly item: string;
  private readonly output: JsonObject[] = [];
  private spoken = '';
  private written = '';
  private hasAudio = false;

  constructor(private readonly newId: NewId) {
    this.id = newId('resp');
    this.item = newId('item');
  }

  begin(): JsonObject[] {
    const response = { object: 'realtime.response', id: this.id, status: 'in_progress', output: [] };
    return [this.event('response.created', { response })];
  }

  /** Nothing of it is passed on once it was cut short. */
  content({ modelTurn, outputTranscription }: JsonObject): JsonObject[] {
    if (this.cancelled !== null) return [];
    const events: JsonObject[] = [];
    for (const part of objectsOf(objectOf(modelTurn).parts)) {
      const { data } = objectOf(part.inlineData);
      if (part.thought === true) continue;
      if (typeof data === 'string') events.push(this.sound(data));
      if (textOf(part.text) !== '') events.push(this.text(textOf(part.text)));
    }
    const said = textOf(objectOf(outputTranscription).text);
    if (said !== '') events.push(this.transcript(said));
    return events;
  }

  call({ id, name, args }: JsonObject): JsonObject[] {
    const item_id = this.newId('item');
    const [call_id, text] = [textOf(id), JSON.stringify(args ?? {})];
    const output_index = this.output.length;
    const item = { id: item_id, type: 'function_call', call_id, name, arguments: text };
    this.output.push({ ...item, status: 'completed' });
    const at = { response_id: this.id, output_index };
    const begun = { ...item, arguments: '', status: 'in_progress' };
    return [
      this.event('response.output_item.added', { ...at, item: begun }),
      this.event('response.function_call_arguments.delta', { ...at, item_id, call_id, delta: text }),
      this.event('response.function_call_arguments.done', { ...at, item_id, call_id, name, arguments: text }),
      this.event('response.output_item.done', { ...at, item: this.output[output_index] }),
    ];
  }

  end(usage: JsonObject | null): JsonObject[] {
    const events = [...this.said(), ...this.wrote()];
    const status = this.cancelled === null ? 'completed' : 'cancelled';
    const details = this.cancelled === null ? null : { type: 'cancelled', reason: this.cancelled };
    const response = {
      ...{ object: 'realtime.response', id: this.id, status, status_details: details },
      ...{ output: this.output, usage: usageOf(usage) },
    };
    return [...events, this.event('response.done', { response })];
  }

  private said(): JsonObject[] {
    if (!this.hasAudio && this.spoken === '') return [];
    const events = this.hasAudio ? [this.part('response.output_audio.done', {})] : [];
    const transcript = this.spoken;
    if (transcript !== '') events.push(this.part('response.output_audio_transcript.done', { transcript }));
    return [...events, this.message({ type: 'output_audio', transcript })];
  }

  private wrote(): JsonObject[] {
    if (this.written === '') return [];
    const text = this.written;
    return [this.part('response.output_text.done', { text }), this.message({ type: 'output_text', text })];
  }

  private message(part: JsonObject): JsonObject {
    const status = this.cancelled === null ? 'completed' : 'incomplete';
    const item = { id: this.item, type: 'message', role: 'assistant', status, content: [part] };
    this.output.push(item);
    const at = { response_id: this.id, output_index: this.output.length - 1 };
    return this.event('response.output_item.done', { ...at, item });
  }

  private sound(delta: string): JsonObject {
    this.hasAudio = true;
    return this.part('response.output_audio.delta', { delta });
  }

  private text(delta: string): JsonObject {
    this.written = grown(this.written, delta);
    return this.part('response.output_text.delta', { delta });
  }

  private transcript(delta: string): JsonObject {
    this.spoken = grown(this.spoken, delta);
    return this.part('response.output_audio_transcript.delta', { delta });
  }

  private part(type: string, more: JsonObject): JsonObject {
    const at = { response_id: this.id, item_id: this.item, output_index: 0, content_index: 0 };
    return this.event(type, { ...at, ...more });
  }

  private event(type: string, more: JsonObject): JsonObject {
    return { type, event_id: this.newId('event'), ...more };
  }
}
