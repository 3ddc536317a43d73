import type { ErrorDetail, DetailType } from '@gateway/contracts';
import { filled, isObject, objectOf, textOf, type JsonObject } from '../../body/json-object.js';
import { parseDataUrl } from '../data-url.js';
import type {
  CacheMarker,
  Capability,
  FileReference,
  ModelRequest,
  Part,
  ToolResultPart,
  Turn,
} from '../model-request.js';
import { readCompaction } from './compaction.js';
import { isForeignReasoning, OWN_FORMAT, unseal } from './sealed-reasoning.js';
import { flatName } from './tools.js';

type Loc = (string | number)[];
type ResultParts = ToolResultPart['parts'];

/** Parts of a reasoning item. */
const THOUGHTS: ReadonlySet<unknown> = new Set(['reasoning_text', 'summary_text', 'text']);
const HTTPS = /^https:\/\/./i;

/** Reads the items of an input. `fault` is the first that is wrong with them. */
export class ItemsReader {
  readonly turns: Turn[] = [];
  readonly sizes: ModelRequest['sizes'] = { textBytes: 0, images: 0, audioSeconds: 0, documentBytes: [] };
  /** The first place of each capability that the items need. */
  readonly needs = new Map<Capability, string>();
  readonly files: FileReference[] = [];
  hasMarkers = false;
  fault: ErrorDetail | null = null;
  /** Calls without their output so far, by id: where they stand in the input, and in which turn. */
  private readonly open = new Map<string, { loc: Loc; turn: Turn }>();

  /** `hasMore`: other items, which are not here, come before these. */
  constructor(private readonly hasMore: boolean) {}

  read(items: readonly JsonObject[]): void {
    for (const [position, item] of items.entries()) this.item(item, ['input', position]);
    for (const { loc } of this.open.values())
      this.refuse('unanswered_tool_call', loc, 'the call is not answered by an output item');
  }

  userText(text: string): void {
    this.turns.push({ role: 'user', parts: [{ type: 'text', text: this.text(text) }] });
  }

  /** Reads one item; `loc` is its place in the body. */
  item(item: JsonObject, loc: Loc): void {
    switch (item.type ?? 'message') {
      case 'message':
        return this.message(item, loc);
      case 'function_call':
        return this.call(item, loc, false);
      case 'custom_tool_call':
        return this.call(item, loc, true);
      case 'function_call_output':
      case 'custom_tool_call_output':
        return this.output(item, loc);
      case 'reasoning':
        return this.reasoning(item, loc);
      case 'compaction': {
        const summary = readCompaction(item);
        if (summary === null) return this.need('same_dialect', [...loc, 'type']);
        this.turns.push({ role: 'user', parts: [{ type: 'text', text: this.text(summary) }] });
        return;
      }
      default:
        // What the provider's own tools did, and items to come: only an upstream of this dialect understands them.
        this.sizes.textBytes += Buffer.byteLength(JSON.stringify(item));
        this.need('same_dialect', [...loc, 'type']);
    }
  }

  private message(item: JsonObject, loc: Loc): void {
    const { role, content } = item;
    if (role !== 'user' && role !== 'assistant' && role !== 'system' && role !== 'developer') {
      this.refuse('enum', [...loc, 'role'], 'must be one of user, assistant, system, developer');
      return;
    }
    if (typeof content !== 'string' && !Array.isArray(content)) {
      this.refuse('missing', [...loc, 'content'], 'must be a text or a list of parts');
      return;
    }
    const parts = this.parts(content, [...loc, 'content']);
    if (role !== 'assistant') this.turns.push({ role, parts });
    else
      this.assistant(
        parts.filter((part) => part.type !== 'text' || part.text !== ''),
        true,
      );
  }

  /** Returns one turn for all that the model said in it: calls of one turn are answered together. */
  private assistant(parts: Part[], isMessage: boolean): Turn {
    const last = this.turns.at(-1);
    const isSpoken = last?.parts.at(-1)?.type === 'text';
    const hasCalls = last?.parts.some(({ type }) => type === 'tool_call') ?? false;
    if (last?.role === 'assistant' && !(isMessage && isSpoken && !hasCalls)) {
      last.parts.push(...parts);
      return last;
    }
    const turn: Turn = { role: 'assistant', parts };
    this.turns.push(turn);
    return turn;
  }

  private call(item: JsonObject, loc: Loc, custom: boolean): void {
    const id = filled(item.call_id);
    const name = filled(item.name);
    if (id === null || name === null) {
      this.refuse('missing', [...loc, id === null ? 'call_id' : 'name'], 'field required');
      return;
    }
    if (this.open.has(id)) this.refuse('duplicate_id', [...loc, 'call_id'], 'call ids must be unique');
    const part: Part = {
      type: 'tool_call',
      id,
      name: this.text(flatName(name, filled(item.namespace))),
      arguments: this.text(textOf(custom ? item.input : item.arguments)),
      ...(custom ? { custom } : {}),
    };
    if (!custom && !isJsonObject(part.arguments))
      this.refuse('json_invalid', [...loc, 'arguments'], 'must be a JSON object');
    this.open.set(id, { loc, turn: this.assistant([part], false) });
  }

  private output(item: JsonObject, loc: Loc): void {
    const id = textOf(item.call_id);
    const call = this.open.get(id);
    const { output } = item;
    if (typeof output !== 'string' && !Array.isArray(output))
      this.refuse('missing', [...loc, 'output'], 'must be a text or a list of parts');
    const said = this.parts(output, [...loc, 'output']);
    const parts = said.filter(isResultPart);
    if (parts.length < said.length) this.need('same_dialect', [...loc, 'output']);
    const result: Part = { type: 'tool_result', toolCallId: id, parts, isError: false };
    if (!call) {
      if (!this.hasMore)
        this.refuse('unknown_tool_call', [...loc, 'call_id'], 'no preceding call has this id');
      this.turns.push({ role: 'tool', parts: [result] });
      return;
    }
    this.open.delete(id);
    // Directly after the turn that asked, whatever came between.
    const next = this.turns.indexOf(call.turn) + 1;
    const after = this.turns.at(next);
    if (after?.role === 'tool') after.parts.push(result);
    else this.turns.splice(next, 0, { role: 'tool', parts: [result] });
  }

  private reasoning(item: JsonObject, loc: Loc): void {
    const encrypted = filled(item.encrypted_content);
    const sealed = encrypted === null ? null : unseal(encrypted);
    const shown = ['content', 'summary'].flatMap((name) => this.elements(item[name], [...loc, name]));
    for (const [{ type }, place] of shown)
      if (!THOUGHTS.has(type)) this.need('same_dialect', [...place, 'type']);
    const text = this.text(sealed?.text ?? shown.map(([part]) => textOf(part.text)).join('\n\n'));
    const parts: Part[] = [];
    if (sealed?.data !== undefined) {
      parts.push({ type: 'opaque_reasoning', data: sealed.data, format: sealed.format });
    } else if (sealed !== null) {
      const { format, signature } = sealed;
      parts.push({ type: 'reasoning', text, format, ...(signature === undefined ? {} : { signature }) });
    } else {
      if (text !== '') parts.push({ type: 'reasoning', text, format: OWN_FORMAT });
      if (encrypted !== null && !isForeignReasoning(item))
        parts.push({ type: 'opaque_reasoning', data: this.text(encrypted), format: OWN_FORMAT });
    }
    if (parts.length > 0) this.assistant(parts, false);
  }

  private parts(content: unknown, loc: Loc): Part[] {
    if (typeof content === 'string') return [{ type: 'text', text: this.text(content) }];
    return this.elements(content, loc).flatMap(([part, place]) => this.part(part, place));
  }

  /** Objects of a list with their places. What is none, or has no type, is refused: it would be lost. */
  private elements(list: unknown, loc: Loc): [JsonObject, Loc][] {
    if (!Array.isArray(list)) return [];
    return (list as unknown[]).flatMap((element, position): [JsonObject, Loc][] => {
      const place = [...loc, position];
      if (!isObject(element)) return this.refuse('wrong_type', place, 'must be object');
      if (typeof element.type !== 'string')
        return this.refuse('missing', [...place, 'type'], 'field required');
      return [[element, place]];
    });
  }

  private part(part: JsonObject, loc: Loc): Part[] {
    switch (part.type) {
      case 'input_text':
      case 'output_text':
      case 'text':
        return [{ type: 'text', text: this.text(textOf(part.text)), ...this.cache(part) }];
      case 'refusal':
        return [{ type: 'refusal', text: this.text(textOf(part.refusal)) }];
      case 'input_image':
        return this.image(part, loc);
      case 'input_file':
        return this.file(part, loc);
      case 'input_audio':
        this.need('audio_input', loc);
        return this.audio(objectOf(part.input_audio), loc);
      default:
        this.need('same_dialect', [...loc, 'type']);
        return [];
    }
  }

  private image(part: JsonObject, loc: Loc): Part[] {
    this.need('image_input', loc);
    this.sizes.images += 1;
    const given = filled(part.detail);
    const rest = { ...(given === null ? {} : { detail: given }), ...this.cache(part) };
    const fileId = filled(part.file_id);
    if (fileId !== null) {
      this.files.push({ id: fileId, param: [...loc, 'file_id'].join('.') });
      return [{ type: 'image', source: { kind: 'file', fileId }, ...rest }];
    }
    const at = [...loc, 'image_url'];
    const url = filled(part.image_url);
    if (url === null) return this.refuse('missing', at, 'image_url or file_id is required');
    if (HTTPS.test(url)) return [{ type: 'image', source: { kind: 'url', url }, ...rest }];
    const data = /^data:/i.test(url) ? parseDataUrl(url) : { fault: 'must be a data: or https: URL' };
    if ('fault' in data) return this.refuse('invalid_url', at, data.fault);
    const { mediaType, data: base64 } = data;
    return [{ type: 'image', source: { kind: 'base64', mediaType, data: base64 }, ...rest }];
  }

  private file(part: JsonObject, loc: Loc): Part[] {
    this.need('document_input', loc);
    const title = filled(part.filename);
    const rest = { ...(title === null ? {} : { title }), ...this.cache(part) };
    const fileId = filled(part.file_id);
    if (fileId !== null) {
      this.sizes.documentBytes.push(1);
      this.files.push({ id: fileId, param: [...loc, 'file_id'].join('.') });
      return [{ type: 'document', source: { kind: 'file', fileId }, ...rest }];
    }
    const url = filled(part.file_url);
    if (url !== null) {
      if (!HTTPS.test(url))
        return this.refuse('invalid_url', [...loc, 'file_url'], 'the URL must begin with https:');
      this.sizes.documentBytes.push(0);
      return [{ type: 'document', source: { kind: 'url', url }, ...rest }];
    }
    const at = [...loc, 'file_data'];
    const given = filled(part.file_data);
    if (given === null) return this.refuse('missing', at, 'file_data, file_url or file_id is required');
    const data = /^data:/i.test(given) ? parseDataUrl(given) : { fault: 'file_data must be a data URL' };
    if ('fault' in data) return this.refuse('invalid_data_url', at, data.fault);
    this.sizes.documentBytes.push(data.byteLength);
    const source = { kind: 'base64' as const, mediaType: data.mediaType, data: data.data };
    return [{ type: 'document', source, ...rest }];
  }

  private audio(audio: JsonObject, loc: Loc): Part[] {
    const format = filled(audio.format);
    const data = filled(audio.data);
    if (format === null || data === null)
      return this.refuse('missing', [...loc, 'input_audio'], 'data and format are required');
    // As speech of 16 kHz: for the estimate only.
    this.sizes.audioSeconds += Math.ceil((data.length * 3) / 4 / 32_000);
    return [{ type: 'audio', format, data }];
  }

  private cache({ prompt_cache_breakpoint: marker }: JsonObject): { cache?: CacheMarker } {
    if (!isObject(marker)) return {};
    this.hasMarkers = true;
    return { cache: { ttl: marker.ttl === '1h' ? '1h' : '5m' } };
  }

  private text(text: string): string {
    this.sizes.textBytes += Buffer.byteLength(text);
    return text;
  }

  private need(capability: Capability, loc: Loc): void {
    if (!this.needs.has(capability)) this.needs.set(capability, dotted(loc));
  }

  private refuse(type: DetailType, loc: Loc, msg: string): [] {
    this.fault ??= { type, loc, msg };
    return [];
  }
}

function isResultPart(part: Part): part is ResultParts[number] {
  return part.type === 'text' || part.type === 'image' || part.type === 'document';
}

function isJsonObject(text: string): boolean {
  if (text.trim() === '') return true;
  try {
    return isObject(JSON.parse(text));
  } catch {
    return false;
  }
}

function dotted(loc: Loc): string {
  return loc
    .map((step, at) => (typeof step === 'number' ? `[${step}]` : at === 0 ? step : `.${step}`))
    .join('');
}
