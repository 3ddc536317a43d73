import { writeJson } from '@gateway/json-body';
import { objectOf, objectsOf, textOf, wholeCount, type JsonObject } from '../../body/json-object.js';
import { grown } from './live-bounds.js';

type NewId = (kind: string) => string;

/** A part of the message: what is heard with its words, or what is read. */
interface Said {
  readonly kind: 'audio' | 'text';
  text: string;
  hasSound: boolean;
  readonly index: number;
}

/** One response of the model, from its first content to the end of its turn. */
export class LiveResponse {
  readonly id: string;
  /** Reason that the caller gets where the turn is cut short. */
  cancelled: 'turn_detected' | 'client_cancelled' | null = null;
  private readonly item: string;
  private readonly output: JsonObject[] = [];
  /** Position of the message in the output; null while the model has said nothing. */
  private place: number | null = null;
  private readonly parts: Said[] = [];

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
      if (typeof data === 'string') events.push(...this.sound(data));
      if (textOf(part.text) !== '') events.push(...this.text(textOf(part.text)));
    }
    const said = textOf(objectOf(outputTranscription).text);
    if (said !== '') events.push(...this.transcript(said));
    return events;
  }

  call({ id, name, args }: JsonObject): JsonObject[] {
    const item_id = this.newId('item');
    const [call_id, text] = [textOf(id), writeJson(args ?? {})];
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
    const events = this.closed();
    const status = this.cancelled === null ? 'completed' : 'cancelled';
    const details = this.cancelled === null ? null : { type: 'cancelled', reason: this.cancelled };
    const response = {
      ...{ object: 'realtime.response', id: this.id, status, status_details: details },
      ...{ output: this.output, usage: usageOf(usage) },
    };
    return [...events, this.event('response.done', { response })];
  }

  private sound(delta: string): JsonObject[] {
    const { part, opened } = this.open('audio');
    part.hasSound = true;
    return [...opened, this.of(part, 'response.output_audio.delta', { delta })];
  }

  private text(delta: string): JsonObject[] {
    const { part, opened } = this.open('text');
    part.text = grown(part.text, delta);
    return [...opened, this.of(part, 'response.output_text.delta', { delta })];
  }

  private transcript(delta: string): JsonObject[] {
    const { part, opened } = this.open('audio');
    part.text = grown(part.text, delta);
    return [...opened, this.of(part, 'response.output_audio_transcript.delta', { delta })];
  }

  /** The part that takes what is said, and what announces it where it is new: its message, then the part. */
  private open(kind: Said['kind']): { part: Said; opened: JsonObject[] } {
    const known = this.parts.find((one) => one.kind === kind);
    if (known) return { part: known, opened: [] };
    const opened: JsonObject[] = [];
    if (this.place === null) {
      this.place = this.output.length;
      const item = { ...this.message('in_progress'), content: [] };
      this.output.push(item);
      opened.push(this.itemEvent('added', item));
    }
    const part: Said = { kind, text: '', hasSound: false, index: this.parts.length };
    this.parts.push(part);
    return { part, opened: [...opened, this.of(part, 'response.content_part.added', { part: shown(part) })] };
  }

  /** Ends what was said. */
  private closed(): JsonObject[] {
    if (this.place === null) return [];
    const item = this.message(this.cancelled === null ? 'completed' : 'incomplete');
    this.output[this.place] = item;
    return [...this.parts.flatMap((part) => this.doneOf(part)), this.itemEvent('done', item)];
  }

  private doneOf(part: Said): JsonObject[] {
    const { kind, text, hasSound } = part;
    const done: JsonObject[] = [];
    if (hasSound) done.push(this.of(part, 'response.output_audio.done', {}));
    if (kind === 'text') done.push(this.of(part, 'response.output_text.done', { text }));
    else if (text !== '')
      done.push(this.of(part, 'response.output_audio_transcript.done', { transcript: text }));
    return [...done, this.of(part, 'response.content_part.done', { part: shown(part) })];
  }

  private message(status: string): JsonObject {
    const content = this.parts.map((part) => ({ ...shown(part), type: `output_${part.kind}` }));
    return { id: this.item, type: 'message', role: 'assistant', status, content };
  }

  private itemEvent(end: 'added' | 'done', item: JsonObject): JsonObject {
    return this.event(`response.output_item.${end}`, {
      response_id: this.id,
      output_index: this.place,
      item,
    });
  }

  private of({ index }: Said, type: string, more: JsonObject): JsonObject {
    const at = { response_id: this.id, item_id: this.item, output_index: this.place, content_index: index };
    return this.event(type, { ...at, ...more });
  }

  private event(type: string, more: JsonObject): JsonObject {
    return { type, event_id: this.newId('event'), ...more };
  }
}

function shown({ kind, text }: Said): JsonObject {
  return kind === 'audio' ? { type: kind, transcript: text } : { type: kind, text };
}

/** The counts of a turn as response.done has them; null where the provider counted nothing. */
function usageOf(raw: JsonObject | null): JsonObject | null {
  if (raw === null) return null;
  const prompt = (wholeCount(raw.promptTokenCount) ?? 0) + (wholeCount(raw.toolUsePromptTokenCount) ?? 0);
  const said = (wholeCount(raw.responseTokenCount) ?? 0) + (wholeCount(raw.thoughtsTokenCount) ?? 0);
  const [heard, seen] = [of(raw.promptTokensDetails, 'AUDIO'), of(raw.promptTokensDetails, 'IMAGE')];
  const frames = of(raw.promptTokensDetails, 'VIDEO');
  const spoken = of(raw.responseTokensDetails, 'AUDIO');
  const images = seen + frames;
  return {
    total_tokens: prompt + said,
    input_tokens: prompt,
    output_tokens: said,
    input_token_details: {
      cached_tokens: Math.min(wholeCount(raw.cachedContentTokenCount) ?? 0, prompt),
      text_tokens: Math.max(0, prompt - heard - images),
      audio_tokens: heard,
      image_tokens: images,
    },
    output_token_details: { text_tokens: Math.max(0, said - spoken), audio_tokens: spoken },
  };
}

function of(details: unknown, modality: string): number {
  let sum = 0;
  for (const detail of objectsOf(details))
    if (detail.modality === modality) sum += wholeCount(detail.tokenCount) ?? 0;
  return sum;
}
