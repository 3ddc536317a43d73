import { rememberSpelling } from '@gateway/json-body';
import { baseRespFailure } from '../../body/base-resp.js';
import { jsonOf } from '../../body/upstream-json.js';
import { SseParser, type SseEvent } from '../../sse/sse-parser.js';
import { withoutMoney } from '../../translation/money-names.js';
import type { AnswerFailure, RouteTarget } from '../../translation/translation.js';
import type { ModelEvent } from '../model-event.js';
import type { AnswerDecoder, Decoded } from '../text-dialect.js';
import type { StartEvent } from './chat-completion.js';
import { ChoiceDecoder } from './choice-decoder.js';
import { filled, isObject, objectOf, objectsOf, type JsonObject } from '../../body/json-object.js';
import { reportedUsage, unitUsage } from './usage.js';

/** Most choices of one answer: OpenAI's own bound of `n`. */
const CHOICES_MAX = 128;

/**
 * Reads the answer of an OpenAI-compatible provider, plain or streamed (wire-formats 1.4, tolerances 5.6). A message is
 * read as one delta: a stream and its plain twin cannot disagree.
 */
export class ChatDecoder implements AnswerDecoder {
  private readonly choices = new Map<number, ChoiceDecoder>();
  private parser: SseParser | null = null;
  /** True after `end` or `error`: nothing follows. */
  private isOver = false;
  private hasStarted = false;
  private seed = '';
  /** Object being read, and its text. */
  private current: JsonObject = {};
  private text = '';

  constructor(
    private readonly target: RouteTarget,
    private readonly toolNames: Readonly<Record<string, string>> = {},
  ) {}

  whole(body: JsonObject, text = ''): Decoded {
    this.current = body;
    this.text = text;
    const events = this.read(body, 'message');
    this.close(events);
    return { events, raw: body, source: null, text };
  }

  push(bytes: Uint8Array): Decoded[] {
    if (this.isOver) return [];
    this.parser ??= new SseParser();
    const frames = this.frames(this.parser.push(bytes));
    if (this.parser.overflowed) frames.push(this.unreadable('An event of the stream is too long.'));
    return frames;
  }

  end(): Decoded[] {
    const frames = this.frames(this.parser?.end() ?? []);
    if (this.isOver) return frames;
    const choices = [...this.choices.values()];
    const events: ModelEvent[] = [];
    // Some providers close without [DONE]: a finish that was seen is as good.
    if (choices.length > 0 && choices.every((choice) => choice.isFinished)) this.close(events);
    else {
      const message = 'The stream ended before the answer was complete.';
      this.fail({ kind: 'connection', body: null, status: null, message }, events);
    }
    frames.push({ events, raw: null, source: null });
    return frames;
  }

  private frames(list: SseEvent[]): Decoded[] {
    const frames: Decoded[] = [];
    for (const source of list) {
      if (this.isOver) break;
      frames.push(this.frame(source));
    }
    return frames;
  }

  private frame(source: SseEvent): Decoded {
    const text = source.data.trim();
    const events: ModelEvent[] = [];
    if (text === '[DONE]') this.close(events);
    if (text === '[DONE]' || text === '') return { events, raw: null, source };
    const chunk = jsonOf(text);
    if (source.event === 'error') {
      const body = chunk ?? text;
      this.fail(inBand(isObject(body) ? (body.error ?? body) : body, body), events);
      return { events, raw: null, source };
    }
    if (!isObject(chunk)) return this.unreadable('An event of the stream is not a JSON object.');
    this.current = chunk;
    this.text = text;
    return { events: this.read(chunk, 'delta'), raw: chunk, source };
  }

  /** Events of one chunk, or of a whole answer; `member` is where a choice keeps its text. */
  private read(answer: JsonObject, member: 'delta' | 'message'): ModelEvent[] {
    const events: ModelEvent[] = [];
    const choices = objectsOf(answer.choices);
    const failure = failureIn(answer, choices);
    if (failure) return this.fail(failure, events);
    // Azure's first chunk has no id and no choices, only what its filter found: it starts nothing.
    if (!this.hasStarted && (choices.length > 0 || filled(answer.id) !== null)) this.start(answer, events);
    const hasSources = answer.search_results !== undefined || answer.citations !== undefined;
    const sources = hasSources ? sourcesOf(answer) : NO_SOURCES;
    for (let position = 0; position < choices.length; position += 1) {
      const raw = choices[position];
      const choice = this.choiceAt(typeof raw.index === 'number' ? raw.index : position);
      if (!choice) return this.fail(badResponse('The answer has too many choices.'), events);
      for (const source of sources) choice.citation(source, events);
      choice.read(raw, objectOf(raw[member]), events, answer);
      const { outgrown } = choice;
      if (outgrown !== null) return this.fail(badResponse(outgrown), events);
      if (choice.isUnserved) return this.fail(UNSERVED, events);
    }
    const usage = reportedUsage(answer);
    if (usage) {
      const raw = objectOf(withoutMoney(usage));
      events.push({ type: 'usage', usage: unitUsage(usage, this.target.quirks), raw });
    }
    return events;
  }

  private start(answer: JsonObject, events: ModelEvent[]): void {
    this.hasStarted = true;
    const { created } = answer;
    const start: StartEvent = {
      type: 'start',
      id: filled(answer.id),
      created: typeof created === 'number' && created > 0 ? Math.trunc(created) : null,
      systemFingerprint: filled(answer.system_fingerprint),
      serviceTier: filled(answer.service_tier),
    };
    // What minted ids of tool calls are made of: the same for every reading of one answer.
    this.seed = `${start.id ?? ''}/${start.created ?? ''}`;
    events.push(start);
  }

  private choiceAt(index: number): ChoiceDecoder | null {
    let choice = this.choices.get(index);
    if (!choice) {
      if (this.choices.size >= CHOICES_MAX) return null;
      choice = new ChoiceDecoder(
        index,
        () => this.seed,
        (name) => (Object.hasOwn(this.toolNames, name) ? this.toolNames[name] : name),
        () => {
          rememberSpelling(this.current, this.text);
        },
      );
      this.choices.set(index, choice);
    }
    return choice;
  }

  /** The provider says that the answer is complete. */
  private close(events: ModelEvent[]): void {
    if (this.isOver) return;
    if (this.choices.size === 0) {
      this.fail(badResponse('The answer has no choices.'), events);
      return;
    }
    for (const choice of this.choices.values()) choice.derivedFinish(events);
    this.isOver = true;
    events.push({ type: 'end' });
  }

  private fail(failure: AnswerFailure, events: ModelEvent[]): ModelEvent[] {
    if (this.isOver) return events;
    this.isOver = true;
    events.push({ type: 'error', failure });
    return events;
  }

  private unreadable(message: string): Decoded {
    return { events: this.fail(badResponse(message), []), raw: null, source: null };
  }
}

const UNSERVED: AnswerFailure = {
  kind: 'in_band',
  body: null,
  status: 503,
  message: 'The provider had no resources for an answer.',
};

function badResponse(message: string): AnswerFailure {
  return { kind: 'bad_response', body: null, status: null, message };
}

/** Sources that Perplexity and xAI name beside the choices. */
function sourcesOf(answer: JsonObject): readonly unknown[] {
  const results: unknown[] = objectsOf(answer.search_results);
  if (results.length > 0) return results;
  return Array.isArray(answer.citations) ? answer.citations : NO_SOURCES;
}

const NO_SOURCES: readonly unknown[] = [];

/** An error said in-band counts though choices come with it (OpenRouter sends both). */
function failureIn(answer: JsonObject, choices: readonly JsonObject[]): AnswerFailure | null {
  if (answer.error) return inBand(answer.error, answer);
  if (answer.object === 'error') return inBand(answer, answer);
  const failure = answer.base_resp === undefined ? null : baseRespFailure(answer);
  if (failure !== null) return { ...inBand(failure, answer), status: failure.status };
  for (const choice of choices) if (choice.error) return inBand(choice.error, answer);
  return null;
}

function inBand(error: unknown, body: unknown): AnswerFailure {
  const { message, code, status_code, status } = objectOf(error);
  const statuses = [code, status_code, status].map(Number);
  return {
    kind: 'in_band',
    body: isObject(body) && body.error ? body : { error },
    status: statuses.find((value) => Number.isInteger(value) && value >= 400 && value <= 599) ?? null,
    message: filled(message) ?? filled(error) ?? 'The provider reported an error.',
  };
}
