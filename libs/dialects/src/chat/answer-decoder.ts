import type { Quirks } from '../dialect.js';
import type { ModelEvent, StreamFailure } from '../model-event.js';
import type { StartEvent } from './answer-head.js';
import { ChoiceDecoder } from './choice-decoder.js';
import { filled, isObject, objectOf, objectsOf, type JsonObject } from './json-object.js';
import { reportedUsage, unitUsage, withoutMoney } from './usage.js';

/** Most choices of one answer: OpenAI's own bound of `n`. */
const CHOICES_LIMIT = 128;

/** What a plain answer and a stream have in common: the state of the choices, and the events of one parsed object. */
export class AnswerDecoder {
  readonly choices = new Map<number, ChoiceDecoder>();
  /** True after `end` or `error`: nothing follows. */
  isOver = false;
  private hasStarted = false;
  private seed = '';

  constructor(
    private readonly quirks: Quirks,
    private readonly toolNames: Readonly<Record<string, string>> = {},
  ) {}

  get isFinished(): boolean {
    return this.choices.size > 0 && [...this.choices.values()].every((choice) => choice.isFinished);
  }

  /** Events of one chunk, or of a whole answer; `member` is where a choice keeps its text. */
  read(answer: JsonObject, member: 'delta' | 'message'): ModelEvent[] {
    const failure = failureIn(answer);
    if (failure) return this.fail(failure);
    const events: ModelEvent[] = [];
    this.start(answer, events);
    for (const [position, raw] of objectsOf(answer.choices).entries()) {
      const choice = this.choiceAt(typeof raw.index === 'number' ? raw.index : position);
      if (!choice) return [...events, ...this.fail(badResponse('The answer has too many choices.'))];
      for (const source of sourcesOf(answer)) choice.citation(source, events);
      choice.read(raw, objectOf(raw[member]), events);
      const { outgrown } = choice.tools;
      if (outgrown !== null) return [...events, ...this.fail(badResponse(outgrown))];
    }
    const usage = reportedUsage(answer);
    if (usage) {
      const raw = objectOf(withoutMoney(usage));
      events.push({ type: 'usage', usage: unitUsage(usage, this.quirks), raw });
    }
    return events;
  }

  /** The provider says that the answer is complete. */
  end(): ModelEvent[] {
    if (this.isOver) return [];
    if (this.choices.size === 0) return this.fail(badResponse('The answer has no choices.'));
    const events: ModelEvent[] = [];
    for (const choice of this.choices.values()) choice.derivedFinish(events);
    this.isOver = true;
    events.push({ type: 'end' });
    return events;
  }

  fail(failure: StreamFailure): ModelEvent[] {
    if (this.isOver) return [];
    this.isOver = true;
    return [{ type: 'error', failure }];
  }

  private choiceAt(index: number): ChoiceDecoder | null {
    let choice = this.choices.get(index);
    if (!choice) {
      if (this.choices.size >= CHOICES_LIMIT) return null;
      choice = new ChoiceDecoder(
        index,
        () => this.seed,
        (name) => (Object.hasOwn(this.toolNames, name) ? this.toolNames[name] : name),
      );
      this.choices.set(index, choice);
    }
    return choice;
  }

  /** Azure's first chunk has no id and no choices, only what its filter found: it starts nothing. */
  private start(answer: JsonObject, events: ModelEvent[]): void {
    if (this.hasStarted || (filled(answer.id) === null && objectsOf(answer.choices).length === 0)) return;
    this.hasStarted = true;
    const start = startOf(answer);
    this.seed = idSeed(start);
    events.push(start);
  }
}

export function startOf(answer: JsonObject): StartEvent {
  const { created } = answer;
  return {
    type: 'start',
    id: filled(answer.id),
    created: typeof created === 'number' && created > 0 ? Math.trunc(created) : null,
    systemFingerprint: filled(answer.system_fingerprint),
    serviceTier: filled(answer.service_tier),
  };
}

/** What minted ids of tool calls are made of: the same for every reading of one answer. */
export function idSeed({ id, created }: StartEvent): string {
  return `${id ?? ''}/${created ?? ''}`;
}

export function badResponse(message: string, body: unknown = null): StreamFailure {
  return { kind: 'bad_response', body, status: null, message };
}

/** Sources that Perplexity and xAI name beside the choices. */
export function sourcesOf(answer: JsonObject): unknown[] {
  const results: unknown[] = objectsOf(answer.search_results);
  if (results.length > 0) return results;
  return Array.isArray(answer.citations) ? answer.citations : [];
}

/** An error said in-band counts though choices come with it (OpenRouter sends both). */
function failureIn(answer: JsonObject): StreamFailure | null {
  if (answer.error) return inBand(answer.error, answer);
  if (answer.object === 'error') return inBand(answer, answer);
  const failed = objectsOf(answer.choices).find((choice) => choice.error);
  return failed ? inBand(failed.error, answer) : null;
}

export function inBand(error: unknown, body: unknown): StreamFailure {
  const { message, code, status_code, status } = objectOf(error);
  const statuses = [code, status_code, status].map(Number);
  return {
    kind: 'in_band',
    body: isObject(body) && body.error ? body : { error },
    status: statuses.find((value) => Number.isInteger(value) && value >= 400 && value <= 599) ?? null,
    message: filled(message) ?? filled(error) ?? 'The provider reported an error.',
  };
}
