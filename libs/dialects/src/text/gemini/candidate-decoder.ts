import { writeJson } from '@gateway/json-body';
import { filled, isObject, objectOf, objectsOf, textOf, type JsonObject } from '../../body/json-object.js';
import { mintedToolId } from '../minted-id.js';
import type { ModelEvent } from '../model-event.js';
import { signedToolId } from '../tool-signature.js';
import { citationsOf } from './grounding.js';
import { StreamedArguments } from './streamed-arguments.js';

/** Family that mints the signatures of this format: they go back to it alone. */
export const SIGNATURE_FORMAT = 'google-gemini-v1';

/** Native reason -> finish_reason where the meaning matches; anything else goes on verbatim. */
const FILTERED: ReadonlySet<string> = new Set([
  'SAFETY',
  'RECITATION',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'IMAGE_SAFETY',
  'IMAGE_PROHIBITED_CONTENT',
  'IMAGE_RECITATION',
]);
const TOOL_CALLS_MAX = 1_024;
/** More are no count that is believed. */
const QUERIES_MAX = 1_001;
/** Longest text that is kept to place citations in it. */
const KEPT_TEXT_MAX = 1_048_576;

interface OpenCall {
  name: string;
  id: string | null;
  signature: string;
  streamed: StreamedArguments;
}

/** One candidate of an answer: its parts of each chunk, in order. */
export class CandidateDecoder {
  isFinished = false;
  /** Bound that it exceeds; null while it does not. */
  outgrown: string | null = null;
  private calls = 0;
  private open: OpenCall | null = null;
  private text: string | null = '';
  private cited: JsonObject | null = null;
  /** Queries that Google has searched for. */
  readonly searched = new Set<string>();

  constructor(
    private readonly choice: number,
    private readonly idSeed: () => string,
    private readonly originalName: (name: string) => string,
    /** Called before arguments are read that are written again. */
    private readonly spell: () => void,
  ) {}

  read(candidate: JsonObject, events: ModelEvent[]): void {
    if (this.isFinished) return;
    const from = events.length;
    for (const part of objectsOf(objectOf(candidate.content).parts)) this.part(part, events);
    this.measured(candidate.logprobsResult, events, from);
    if (isObject(candidate.groundingMetadata)) this.ground(candidate.groundingMetadata);
    const native = filled(candidate.finishReason);
    if (native !== null && native !== 'FINISH_REASON_UNSPECIFIED') this.finish(native, events);
  }

  /** Chunks may name a query again: it was searched for once. */
  private ground(metadata: JsonObject): void {
    this.cited = metadata;
    const queries = Array.isArray(metadata.webSearchQueries) ? metadata.webSearchQueries : [];
    for (const query of queries)
      if (typeof query === 'string' && query !== '' && this.searched.size < QUERIES_MAX)
        this.searched.add(query);
  }

  private part(part: JsonObject, events: ModelEvent[]): void {
    const { choice } = this;
    const signature = textOf(part.thoughtSignature);
    if (isObject(part.functionCall)) {
      this.functionCall(part.functionCall, signature, events);
      return;
    }
    const text = textOf(part.text);
    if (part.thought === true) {
      if (text !== '') events.push({ type: 'reasoning', choice, text, format: SIGNATURE_FORMAT });
    } else if (text !== '') {
      if (this.text !== null) this.text = this.text.length > KEPT_TEXT_MAX ? null : this.text + text;
      events.push({ type: 'text', choice, text });
    }
    // Signatures of the provider's own tools (their parts have no text member) mean nothing to a caller.
    if (signature !== '' && part.text !== undefined)
      events.push({ type: 'reasoning_signature', choice, signature, format: SIGNATURE_FORMAT });
  }

  /** The tokens of this chunk go with the last of what it said, as chat has them. */
  private measured(result: unknown, events: ModelEvent[], from: number): void {
    const content = logprobsOf(result);
    if (content.length === 0) return;
    const logprobs = { content, refusal: null };
    const said = events.slice(from).findLast((event) => event.type === 'text');
    if (said) said.logprobs = logprobs;
    else events.push({ type: 'text', choice: this.choice, text: '', logprobs });
  }

  /** Whole, or begun with a name and continued by parts without one until one says nothing more. */
  private functionCall(call: JsonObject, signature: string, events: ModelEvent[]): void {
    this.spell();
    const name = filled(call.name);
    if (name !== null) {
      this.closeOpen(events);
      this.open = { name, id: filled(call.id), signature, streamed: new StreamedArguments() };
    }
    if (this.open === null) return;
    if (call.args !== undefined) Object.assign(this.open.streamed.value, objectOf(call.args));
    this.open.streamed.add(call.partialArgs);
    if (this.open.streamed.isOutgrown) this.outgrown = 'The arguments of a tool call are too large.';
    if (call.willContinue !== true) this.closeOpen(events);
  }

  private closeOpen(events: ModelEvent[]): void {
    if (this.open === null) return;
    const { choice } = this;
    const { name, id, signature, streamed } = this.open;
    const call = this.calls;
    this.open = null;
    this.calls += 1;
    if (call >= TOOL_CALLS_MAX) {
      this.outgrown = 'The answer has too many tool calls.';
      return;
    }
    const plain = id ?? mintedToolId(this.idSeed(), choice, call);
    const extras = { extra_content: { google: { thought_signature: signature } } };
    events.push(
      {
        type: 'tool_start',
        choice,
        call,
        id: signedToolId(plain, signature),
        name: this.originalName(name),
        custom: false,
        ...(signature === '' ? {} : { extras }),
      },
      { type: 'tool_arguments', choice, call, text: writeJson(streamed.value) },
      { type: 'tool_end', choice, call },
    );
  }

  private finish(native: string, events: ModelEvent[]): void {
    const { choice } = this;
    this.closeOpen(events);
    if (this.cited)
      for (const citation of citationsOf(this.cited, this.text))
        events.push({ type: 'citation', choice, citation });
    this.isFinished = true;
    events.push({ type: 'finish', choice, reason: this.reasonOf(native), native, stopSequence: null });
  }

  private reasonOf(native: string): string {
    if (native === 'STOP') return this.calls > 0 ? 'tool_calls' : 'stop';
    if (native === 'MAX_TOKENS') return 'length';
    return FILTERED.has(native) ? 'content_filter' : native;
  }
}

/** A `logprobsResult` as chat writes it: each token that was chosen, with those that might have been. */
function logprobsOf(result: unknown): JsonObject[] {
  const { chosenCandidates, topCandidates } = objectOf(result);
  const tops = objectsOf(topCandidates);
  return objectsOf(chosenCandidates).map((chosen, at) => ({
    ...tokenOf(chosen),
    top_logprobs: objectsOf(objectOf(tops[at]).candidates).map(tokenOf),
  }));
}

/** Absent = 0, which is how this format writes a token that is certain. */
function tokenOf({ token, logProbability }: JsonObject): JsonObject {
  const text = textOf(token);
  const logprob = typeof logProbability === 'number' ? logProbability : 0;
  return { token: text, logprob, bytes: [...Buffer.from(text, 'utf8')] };
}
