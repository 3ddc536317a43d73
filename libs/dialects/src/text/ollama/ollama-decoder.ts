import { rememberSpelling } from '@gateway/json-body';
import type { UnitUsage } from '@gateway/contracts';
import {
  filled,
  isObject,
  objectOf,
  objectsOf,
  textOf,
  wholeCount,
  type JsonObject,
} from '../../body/json-object.js';
import type { AnswerFailure } from '../../translation/translation.js';
import { ToolCallDecoder } from '../chat/tool-call-decoder.js';
import { badResponse, CUT_SHORT } from '../failures.js';
import type { ModelEvent } from '../model-event.js';
import type { AnswerDecoder, Decoded } from '../text-dialect.js';
import { jsonOf } from '../../body/upstream-json.js';
import { JsonLines } from './json-lines.js';

const FORMAT = 'unknown';

/** Reads the answer of /api/chat: one object, or one object a line of which the last says `done`. */
export class OllamaDecoder implements AnswerDecoder {
  private readonly lines = new JsonLines();
  private hasStarted = false;
  private isOver = false;
  idSeed = '';
  private readonly tools = new ToolCallDecoder(0, this);

  constructor(readonly toolNames: Readonly<Record<string, string>> = {}) {}

  whole(body: JsonObject, text = ''): Decoded {
    rememberSpelling(body, text);
    const events: ModelEvent[] = [];
    this.read(body, events);
    if (!this.isOver) this.fail(badResponse('The answer is not whole.'), events);
    return { events, raw: null, source: null };
  }

  push(bytes: Uint8Array): Decoded[] {
    if (this.isOver) return [];
    const frames = this.frames(this.lines.push(bytes));
    if (this.lines.overflowed) frames.push(this.failed(badResponse('A line of the stream is too long.')));
    return frames;
  }

  end(): Decoded[] {
    const frames = this.frames(this.lines.end());
    if (!this.isOver) frames.push(this.failed(CUT_SHORT));
    return frames;
  }

  private frames(lines: string[]): Decoded[] {
    const frames: Decoded[] = [];
    for (const line of lines) {
      if (this.isOver) break;
      const value = jsonOf(line);
      if (!isObject(value)) {
        frames.push(this.failed(badResponse('A line of the stream is not a JSON object.')));
        break;
      }
      if (objectOf(value.message).tool_calls !== undefined) rememberSpelling(value, line);
      const events: ModelEvent[] = [];
      this.read(value, events);
      frames.push({ events, raw: null, source: null });
    }
    return frames;
  }

  private read(line: JsonObject, events: ModelEvent[]): void {
    const error = filled(line.error) ?? filled(objectOf(line.error).message);
    if (error !== null) {
      this.fail({ kind: 'in_band', body: { error }, status: null, message: error }, events);
      return;
    }
    if (!isObject(line.message)) {
      this.fail(badResponse('The answer has no message.'), events);
      return;
    }
    if (!this.hasStarted) this.start(line, events);
    const { content, thinking, tool_calls } = line.message;
    const thought = textOf(thinking);
    if (thought !== '') events.push({ type: 'reasoning', choice: 0, text: thought, format: FORMAT });
    const text = textOf(content);
    if (text !== '') events.push({ type: 'text', choice: 0, text });
    for (const { id, function: body } of objectsOf(tool_calls))
      this.tools.whole({ id, function: whole(objectOf(body)) }, events);
    if (this.tools.outgrown !== null) this.fail(badResponse(this.tools.outgrown), events);
    else if (line.done === true) this.finish(line, events);
  }

  private start({ created_at }: JsonObject, events: ModelEvent[]): void {
    this.hasStarted = true;
    this.idSeed = textOf(created_at);
    const at = Date.parse(this.idSeed);
    const created = Number.isNaN(at) ? null : Math.floor(at / 1_000);
    events.push({ type: 'start', id: null, created, systemFingerprint: null, serviceTier: null });
  }

  private finish(line: JsonObject, events: ModelEvent[]): void {
    this.tools.finish(events);
    const native = filled(line.done_reason);
    const reason = this.tools.count > 0 && native !== 'length' ? 'tool_calls' : (native ?? 'stop');
    this.isOver = true;
    events.push(
      { type: 'finish', choice: 0, reason, native, stopSequence: null },
      { type: 'usage', usage: unitUsage(line), raw: {} },
      { type: 'end' },
    );
  }

  private fail(failure: AnswerFailure, events: ModelEvent[]): void {
    if (this.isOver) return;
    this.isOver = true;
    events.push({ type: 'error', failure });
  }

  private failed(failure: AnswerFailure): Decoded {
    const events: ModelEvent[] = [];
    this.fail(failure, events);
    return { events, raw: null, source: null };
  }
}

/** A call comes whole: without arguments it has none, so the next one of the same name is another. */
function whole({ name, arguments: input }: JsonObject): JsonObject {
  return { name, arguments: isObject(input) ? input : {} };
}

/** A prompt that the server had in its cache is counted too; a count that is left out is 0 of it. */
function unitUsage({ prompt_eval_count, eval_count }: JsonObject): UnitUsage {
  const prompt = wholeCount(prompt_eval_count);
  const completion = wholeCount(eval_count);
  return {
    ...(prompt === null
      ? {}
      : { prompt_tokens: prompt, cached_tokens: 0, cache_write_tokens: 0, cache_write_1h_tokens: 0 }),
    ...(completion === null ? {} : { completion_tokens: completion, reasoning_tokens: 0 }),
  };
}
