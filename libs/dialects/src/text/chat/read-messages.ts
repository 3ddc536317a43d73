import type { ErrorDetail, DetailType } from '@gateway/contracts';
import type {
  CacheMarker,
  Capability,
  FileReference,
  ModelRequest,
  Part,
  RequiredCapability,
  Turn,
} from '../model-request.js';
import { filled, isObject, objectOf, objectsOf, textOf, type JsonObject } from '../../body/json-object.js';
import { base64Length, DATA_URL_LIMIT_BYTES, parseDataUrl } from '../data-url.js';

type Loc = (string | number)[];

/** Bytes of a second of audio as callers send it: speech as 16 kHz WAV, MP3 at 64 kbit/s. For the estimate only. */
const AUDIO_BYTES_PER_SECOND: Readonly<Record<string, number>> = { wav: 32_000, mp3: 8_000 };

const MARKERS = ['cache_control', 'prompt_cache_breakpoint'];

/** Reads the messages of a request that satisfied the schema. `fault` is the first that is wrong with them. */
export class MessagesReader {
  readonly turns: Turn[] = [];
  readonly sizes: ModelRequest['sizes'] = { textBytes: 0, images: 0, audioSeconds: 0, documentBytes: [] };
  /** The first place of each capability that the messages need. */
  readonly needs: RequiredCapability[] = [];
  readonly files: FileReference[] = [];
  /** Spellings of cache markers that stand somewhere. */
  readonly markers: Record<string, true> = {};
  /** Spelling of the caller for the reasoning of earlier turns. */
  thoughts = 'reasoning_details';
  fault: ErrorDetail | null = null;
  /** Calls without their result so far, by id: some hosts give one to several calls. */
  private open: Map<string, Loc[]> | null = null;

  read(messages: readonly JsonObject[]): void {
    for (let position = 0; position < messages.length; position += 1)
      this.message(messages[position], ['messages', position]);
    this.refuseOpenCalls();
  }

  private message(message: JsonObject, loc: Loc): void {
    const name = filled(message.name);
    const named = name === null ? {} : { name };
    if (name !== null) this.text(name);
    switch (message.role) {
      case 'system':
      case 'developer':
        this.turns.push({ role: message.role, parts: this.parts(message.content, loc), ...named });
        return;
      case 'user':
        this.refuseOpenCalls();
        this.turns.push({ role: 'user', parts: this.parts(message.content, loc), ...named });
        return;
      case 'assistant':
        this.refuseOpenCalls();
        this.turns.push({ role: 'assistant', parts: this.assistantParts(message, loc), ...named });
        return;
      default:
        this.toolResult(message, loc);
    }
  }

  private toolResult(message: JsonObject, loc: Loc): void {
    const toolCallId = textOf(message.tool_call_id);
    if (this.open?.get(toolCallId)?.shift() === undefined)
      this.refuse(
        'unknown_tool_call',
        [...loc, 'tool_call_id'],
        'no preceding assistant message has this tool call',
      );
    const parts = this.parts(message.content, loc).filter((part) => part.type === 'text');
    const isError = message.is_error === true;
    const result: Part = { type: 'tool_result', toolCallId, parts, isError, ...this.cache(message) };
    const last = this.turns.at(-1);
    // The results of one assistant turn stand together, whatever message each came in.
    if (last?.role === 'tool') last.parts.push(result);
    else this.turns.push({ role: 'tool', parts: [result] });
  }

  private assistantParts(message: JsonObject, loc: Loc): Part[] {
    const parts: Part[] = this.reasoning(message);
    for (const part of this.parts(message.content, loc)) {
      if (part.type !== 'text' || part.text !== '') parts.push(part);
    }
    const refusal = filled(message.refusal);
    if (refusal !== null) parts.push({ type: 'refusal', text: this.text(refusal) });
    if (isObject(message.audio)) this.need('same_dialect', [...loc, 'audio']);
    for (const [position, call] of objectsOf(message.tool_calls).entries()) {
      const custom = call.type === 'custom';
      const body = objectOf(custom ? call.custom : call.function);
      const id = textOf(call.id);
      this.open ??= new Map();
      this.open.set(id, [...(this.open.get(id) ?? []), [...loc, 'tool_calls', position]]);
      parts.push({
        type: 'tool_call',
        id,
        name: this.text(textOf(body.name)),
        arguments: this.text(textOf(custom ? body.input : body.arguments)),
        ...(custom ? { custom } : {}),
        // Results, which are messages of their own, stand together in one turn.
        ...(loc[1] === this.turns.length ? {} : { message: Number(loc[1]) }),
        ...signatureOf(call),
        ...this.cache(call),
      });
    }
    return parts;
  }

  /** Reasoning of an earlier turn, in the spelling with the most in it. */
  private reasoning(message: JsonObject): Part[] {
    const details = objectsOf(message.reasoning_details);
    if (details.length === 0) {
      const name = ['reasoning_content', 'reasoning'].find((one) => filled(message[one]) !== null);
      if (name !== undefined) this.thoughts = name;
      const text = name === undefined ? null : filled(message[name]);
      return text === null ? [] : [{ type: 'reasoning', text: this.text(text) }];
    }
    return details.map((detail): Part => {
      const format = filled(detail.format);
      const minted = format === null ? {} : { format };
      const data = filled(detail.data);
      if (data !== null) return { type: 'opaque_reasoning', data: this.text(data), ...minted };
      const signature = filled(detail.signature);
      const text = this.text(textOf(detail.text ?? detail.summary));
      return { type: 'reasoning', text, ...(signature === null ? {} : { signature }), ...minted };
    });
  }

  /** Either spelling of a cache marker: only an asked-for hour makes it one. */
  cache(part: JsonObject): { cache?: CacheMarker } {
    const name = MARKERS.find((spelling) => part[spelling] != null);
    const marker = name === undefined ? null : part[name];
    if (name === undefined || !isObject(marker)) return {};
    this.markers[name] = true;
    return { cache: { ttl: marker.ttl === '1h' ? '1h' : '5m' } };
  }

  private parts(content: unknown, loc: Loc): Part[] {
    if (typeof content === 'string') return [{ type: 'text', text: this.text(content) }];
    const parts: Part[] = [];
    for (const [position, part] of objectsOf(content).entries())
      parts.push(...this.part(part, [...loc, 'content', position]));
    return parts;
  }

  private part(part: JsonObject, loc: Loc): Part[] {
    const cache = this.cache(part);
    switch (part.type) {
      case 'text':
        return [{ type: 'text', text: this.text(textOf(part.text)), ...cache }];
      case 'refusal':
        return [{ type: 'refusal', text: this.text(textOf(part.refusal)) }];
      case 'image_url':
        return this.image(objectOf(part.image_url), [...loc, 'image_url', 'url'], cache);
      case 'input_audio':
        return this.audio(objectOf(part.input_audio), [...loc, 'input_audio', 'data']);
      case 'file':
        return this.file(objectOf(part.file), [...loc, 'file'], cache);
      default:
        // Video has no place in the middle form: only an upstream of this dialect can take it as it is.
        this.need('same_dialect', loc);
        return [];
    }
  }

  private image({ url, detail }: JsonObject, loc: Loc, cache: { cache?: CacheMarker }): Part[] {
    const address = textOf(url);
    this.sizes.images += 1;
    this.need('image_input', loc.slice(0, -2));
    const detailed = typeof detail === 'string' ? { detail } : {};
    if (/^data:/i.test(address)) {
      const data = parseDataUrl(address);
      if ('fault' in data) return this.refuse('invalid_data_url', loc, data.fault);
      const { mediaType } = data;
      if (!mediaType.startsWith('image/'))
        return this.refuse('invalid_data_url', loc, 'the data URL is not an image');
      const source = { kind: 'base64' as const, mediaType, data: data.data };
      return [{ type: 'image', source, ...detailed, ...cache }];
    }
    if (!/^https:\/\/./i.test(address))
      return this.refuse('invalid_url', loc, 'the image URL must begin with https: or data:');
    return [{ type: 'image', source: { kind: 'url', url: address }, ...detailed, ...cache }];
  }

  private audio({ data, format }: JsonObject, loc: Loc): Part[] {
    const byteLength = base64Length(textOf(data));
    if (byteLength === null) return this.refuse('invalid_base64', loc, 'the audio is not base64');
    if (byteLength > DATA_URL_LIMIT_BYTES)
      return this.refuse('too_large', loc, 'the audio is larger than 20 MiB');
    this.need('audio_input', loc.slice(0, -2));
    this.sizes.audioSeconds += Math.ceil(byteLength / (AUDIO_BYTES_PER_SECOND[textOf(format)] ?? 8_000));
    return [{ type: 'audio', format: textOf(format), data: textOf(data) }];
  }

  private file(file: JsonObject, loc: Loc, cache: { cache?: CacheMarker }): Part[] {
    const title = filled(file.filename);
    const titled = title === null ? {} : { title };
    const fileId = filled(file.file_id);
    this.need('document_input', loc.slice(0, -1));
    if (fileId !== null) {
      this.files.push({ id: fileId, param: [...loc, 'file_id'].join('.') });
      this.sizes.documentBytes.push(1);
      return [{ type: 'document', source: { kind: 'file', fileId }, ...titled, ...cache }];
    }
    const url = filled(file.file_data);
    if (url === null)
      return this.refuse('missing', [...loc, 'file_data'], 'file_data or file_id is required');
    const data = /^data:/i.test(url) ? parseDataUrl(url) : { fault: 'file_data must be a data URL' };
    if ('fault' in data) return this.refuse('invalid_data_url', [...loc, 'file_data'], data.fault);
    this.sizes.documentBytes.push(data.byteLength);
    const source = { kind: 'base64' as const, mediaType: data.mediaType, data: data.data };
    return [{ type: 'document', source, ...titled, ...cache }];
  }

  private refuseOpenCalls(): void {
    if (this.open === null) return;
    for (const loc of [...this.open.values()].flat())
      this.refuse('unanswered_tool_call', loc, 'the tool call is not answered by a tool message');
    this.open = null;
  }

  private text(text: string): string {
    this.sizes.textBytes += Buffer.byteLength(text);
    return text;
  }

  private need(capability: Capability, loc: Loc): void {
    if (!this.needs.some((one) => one.capability === capability))
      this.needs.push({ capability, param: dotted(loc) });
  }

  private refuse(type: DetailType, loc: Loc, msg: string): [] {
    this.fault ??= { type, loc, msg };
    return [];
  }
}

/** Returns the signature of a call, at the place where Google's own OpenAI endpoint puts it. */
function signatureOf(call: JsonObject): { signature?: string } {
  const { google } = objectOf(call.extra_content);
  const signature = filled(objectOf(google).thought_signature);
  return signature === null ? {} : { signature };
}

function dotted(loc: Loc): string {
  return loc
    .map((step, at) => (typeof step === 'number' ? `[${step}]` : at === 0 ? step : `.${step}`))
    .join('');
}
