import { rememberSpelling } from '@gateway/json-body';
import type { UnitUsage } from '@gateway/contracts';
import { filled, isObject, objectOf, objectsOf, type JsonObject } from '../../body/json-object.js';
import { parseUpstreamJson } from '../../body/upstream-json.js';
import type { AnswerFailure } from '../../translation/translation.js';
import { EventDecoder } from '../event-decoder.js';
import { badResponse, CUT_SHORT } from '../failures.js';
import type { ModelEvent } from '../model-event.js';
import type { Decoded } from '../text-dialect.js';
import { CandidateDecoder } from './candidate-decoder.js';
import { addedKeys, unitUsage } from './usage.js';

/** Most candidates of one answer. */
const CANDIDATES_MAX = 128;

/** Reads the answer of generateContent. A stream is a list of partial answers; their end is the end of the body. */
export class GeminiDecoder extends EventDecoder {
  private readonly candidates = new Map<number, CandidateDecoder>();
  private seed: string | null = null;

  constructor(private readonly toolNames: Readonly<Record<string, string>> = {}) {
    super();
  }

  override whole(body: JsonObject, text = ''): Decoded {
    rememberSpelling(body, text);
    const events: ModelEvent[] = [];
    this.read(body, events);
    this.close(events);
    return { events, raw: null, source: null };
  }

  protected override read(chunk: JsonObject, events: ModelEvent[]): void {
    if (isObject(chunk.error)) return this.fail(inBand(chunk.error), events);
    const candidates = objectsOf(chunk.candidates);
    const { blockReason, blockReasonMessage } = objectOf(chunk.promptFeedback);
    const blocked = filled(blockReason);
    if (blocked !== null && candidates.length === 0)
      return this.fail(refusedPrompt(blocked, filled(blockReasonMessage)), events);
    this.start(chunk, events);
    for (const [position, candidate] of candidates.entries()) {
      const index = typeof candidate.index === 'number' ? candidate.index : position;
      const decoder = this.candidateAt(index);
      decoder?.read(candidate, events);
      const fault = decoder === null ? 'The answer has too many candidates.' : decoder.outgrown;
      if (fault !== null) return this.fail(badResponse(fault), events);
    }
    const counts = objectOf(chunk.usageMetadata);
    const usage = { ...unitUsage(counts, this.isFinished()), ...this.searches() };
    if (Object.keys(usage).length > 0) events.push({ type: 'usage', usage, raw: addedKeys(counts) });
  }

  /** Google bills later models by the query, earlier ones by the answer that rests on any: a price names one of them. */
  private searches(): UnitUsage {
    let queries = 0;
    for (const { searched } of this.candidates.values()) queries += searched.size;
    return queries === 0 ? {} : { tool_calls: { web_search: queries, grounded_prompt: 1 } };
  }

  private start(chunk: JsonObject, events: ModelEvent[]): void {
    if (this.seed !== null) return;
    const id = filled(chunk.responseId);
    this.seed = id ?? '';
    const tier = filled(objectOf(chunk.usageMetadata).serviceTier);
    const serviceTier = tier === 'standard' ? 'default' : tier;
    events.push({ type: 'start', id, created: null, systemFingerprint: null, serviceTier });
  }

  private candidateAt(index: number): CandidateDecoder | null {
    const known = this.candidates.get(index);
    if (known) return known;
    if (this.candidates.size >= CANDIDATES_MAX) return null;
    const made = new CandidateDecoder(
      index,
      () => this.seed ?? '',
      (name) => (Object.hasOwn(this.toolNames, name) ? this.toolNames[name] : name),
      () => {
        this.spell();
      },
    );
    this.candidates.set(index, made);
    return made;
  }

  private isFinished(): boolean {
    const candidates = [...this.candidates.values()];
    return candidates.length > 0 && candidates.every((candidate) => candidate.isFinished);
  }

  protected override lacking(): AnswerFailure | null {
    if (this.isFinished()) return null;
    return this.candidates.size > 0 || this.isStream
      ? CUT_SHORT
      : badResponse('The answer has no candidates.');
  }

  protected override parsed(data: string): JsonObject | null {
    return objectOfEvent(data);
  }
}

/** The object of an event; errors come in a list of one as well. */
function objectOfEvent(text: string): JsonObject | null {
  try {
    const value = parseUpstreamJson(text);
    const only: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
    return isObject(only) ? only : null;
  } catch {
    return null;
  }
}

function inBand(error: JsonObject): AnswerFailure {
  const status = Number(error.code);
  return {
    kind: 'in_band',
    body: { error },
    status: Number.isInteger(status) && status >= 400 && status <= 599 ? status : null,
    message: filled(error.message) ?? 'The provider reported an error.',
  };
}

/** A prompt that was not let through has no candidates. */
function refusedPrompt(reason: string, words: string | null): AnswerFailure {
  const message = words ?? `The prompt was blocked: ${reason}.`;
  return { kind: 'in_band', body: { error: { status: 'PROMPT_BLOCKED', message } }, status: 400, message };
}
