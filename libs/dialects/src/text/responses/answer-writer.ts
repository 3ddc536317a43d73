import type { ApiError, UnitUsage } from '@gateway/contracts';
import { objectOf, type JsonObject } from '../../body/json-object.js';
import type { Citation, ModelEvent } from '../model-event.js';
import type { ModelRequest } from '../model-request.js';
import type { TextFacts } from '../text-dialect.js';
import { CallItems } from './call-items.js';
import { failedCode, responseObject, type ResponseState } from './response-object.js';
import { ITEM_MARK, OWN_FORMAT, seal } from './sealed-reasoning.js';
import { responsesUsage } from './usage.js';

type Text = { kind: 'text' | 'refusal'; text: string; annotations: JsonObject[]; logprobs: unknown[] };
/** The item that is being written; calls stand apart, several of them may be open. */
type Open =
  | { type: 'reasoning'; index: number; id: string; text: string; format: string; sealed: string | null }
  | { type: 'message'; index: number; id: string; parts: Text[] };

type StartEvent = Extract<ModelEvent, { type: 'start' }>;
type SaidEvent = Exclude<
  ModelEvent,
  { type: 'start' | 'tool_end' | 'usage' | 'finish' | 'end' | 'ping' | 'audio' | 'error' }
>;
type FinishEvent = Extract<ModelEvent, { type: 'finish' }>;

/**
 * Events -> the objects of a responses stream, numbered. Reasoning is closed before a message, a message
 * before calls. A plain answer is the response of the last object, so both agree.
 */
export class AnswerWriter {
  private sequence = 0;
  private start: StartEvent | null = null;
  private isStarted = false;
  private isOver = false;
  private open: Open | null = null;
  private readonly output: JsonObject[] = [];
  private readonly calls: CallItems;
  private finish: FinishEvent | null = null;
  private usage: { usage: UnitUsage; raw: JsonObject } = { usage: {}, raw: {} };
  private readonly showsSummary: boolean;
  /** Citations that came before the text that they belong to. */
  private readonly early: Citation[] = [];

  constructor(
    private readonly facts: TextFacts,
    private readonly request: ModelRequest,
  ) {
    const { reasoning } = request.body.value;
    const { summary, generate_summary: earlier } = objectOf(reasoning);
    this.showsSummary = summary != null || earlier != null;
    this.calls = new CallItems(request, this.output, (prefix) => this.itemId(prefix));
  }

  write(event: ModelEvent): JsonObject[] {
    // This format has one choice: the front refuses more.
    if (this.isOver || ('choice' in event && event.choice !== 0)) return [];
    switch (event.type) {
      case 'start':
        this.start ??= event;
        return this.begin();
      case 'usage':
        this.usage = event;
        return [];
      case 'finish':
        this.finish = event;
        return this.numbered(this.calls.endAll(this.isCut));
      case 'end':
        return this.end();
      case 'ping':
      case 'audio':
      case 'error':
        return [];
      default:
        return [...this.begin(), ...this.numbered(this.content(event))];
    }
  }

  /** A stream that broke off: the error, then the response that has failed. */
  fail(error: ApiError, requestId: string): JsonObject[] {
    if (this.isOver) return [];
    this.isOver = true;
    const { code, message } = error;
    const said = { code, message, param: error.options.param ?? null };
    const opened = this.begin();
    // What was open has its place in the output; its end is not said, because it has none.
    this.close(true);
    this.calls.endAll(true);
    const response = this.response({ status: 'failed', error: { code: failedCode(error), message } });
    return [
      ...opened,
      ...this.numbered([
        { type: 'error', ...said, error: { type: error.entry.type, ...said }, request_id: requestId },
        { type: 'response.failed', response },
      ]),
    ];
  }

  private begin(): JsonObject[] {
    if (this.isStarted) return [];
    this.isStarted = true;
    const response = this.response({ status: 'in_progress' });
    return this.numbered([
      { type: 'response.created', response },
      { type: 'response.in_progress', response },
    ]);
  }

  private content(event: SaidEvent | Extract<ModelEvent, { type: 'tool_end' }>): JsonObject[] {
    if (event.type === 'tool_end') return this.calls.end(event.call);
    return [...this.calls.goOn(), ...this.said(event)];
  }

  private said(event: SaidEvent): JsonObject[] {
    switch (event.type) {
      case 'text':
        return this.text('text', event.text, logprobsOf(event.logprobs));
      case 'refusal':
        return this.text('refusal', event.text, []);
      case 'citation':
        return this.citation(event.citation);
      case 'reasoning':
        return event.text === '' ? [] : this.reasoning(event.text, event.format);
      case 'reasoning_signature':
        return this.signature(event.signature, event.format);
      case 'opaque_reasoning':
        return this.opaque(event.data, event.format);
      case 'tool_start':
        return [...this.close(), ...this.calls.start(event)];
      case 'tool_arguments':
        return this.calls.arguments(event.call, event.text);
    }
  }

  private reasoning(text: string, format: string): JsonObject[] {
    const { open, events } = this.openReasoning(format);
    open.text += text;
    const at = { item_id: open.id, output_index: open.index };
    const delta = this.showsSummary
      ? { type: 'response.reasoning_summary_text.delta', ...at, summary_index: 0, delta: text }
      : { type: 'response.reasoning_text.delta', ...at, content_index: 0, delta: text };
    return [...events, delta];
  }

  private openReasoning(format: string): {
    open: Extract<Open, { type: 'reasoning' }>;
    events: JsonObject[];
  } {
    if (this.open?.type === 'reasoning' && this.open.sealed === null) return { open: this.open, events: [] };
    const events = this.close();
    const open = { type: 'reasoning' as const, ...this.place('rs'), text: '', format, sealed: null };
    this.open = open;
    const at = { item_id: open.id, output_index: open.index };
    const item = { id: open.id, type: 'reasoning', summary: [], status: 'in_progress' };
    events.push({ type: 'response.output_item.added', output_index: open.index, item });
    events.push(
      this.showsSummary
        ? { type: 'response.reasoning_summary_part.added', ...at, summary_index: 0, part: summaryPart('') }
        : { type: 'response.content_part.added', ...at, content_index: 0, part: reasoningPart('') },
    );
    return { open, events };
  }

  private signature(signature: string, format: string): JsonObject[] {
    const { open, events } = this.openReasoning(format);
    open.sealed = seal({ format, signature, text: open.text });
    return [...events, ...this.close()];
  }

  /** Reasoning that nobody here can read is an item with nothing but its content. */
  private opaque(data: string, format: string): JsonObject[] {
    const isOwn = format === OWN_FORMAT;
    const encrypted_content = isOwn ? data : seal({ format, data });
    // An upstream of this format says first what it shows of the same item.
    if (isOwn && this.open?.type === 'reasoning') {
      this.open.sealed = data;
      return this.close();
    }
    const events = this.close();
    const { id, index } = this.place('rs');
    const item = { id, type: 'reasoning', summary: [], encrypted_content };
    this.output[index] = item;
    events.push({
      type: 'response.output_item.added',
      output_index: index,
      item: { ...item, status: 'in_progress' },
    });
    events.push({ type: 'response.output_item.done', output_index: index, item });
    return events;
  }

  private text(kind: Text['kind'], text: string, logprobs: unknown[]): JsonObject[] {
    if (text === '' && logprobs.length === 0) return [];
    const events = this.openMessage(kind);
    const open = this.open as Extract<Open, { type: 'message' }>;
    const part = open.parts.at(-1);
    if (!part) return events;
    if (kind === 'text') events.push(...this.early.splice(0).flatMap((one) => this.citation(one)));
    part.text += text;
    part.logprobs.push(...logprobs);
    const at = { item_id: open.id, output_index: open.index, content_index: open.parts.length - 1 };
    const delta =
      kind === 'text'
        ? { type: 'response.output_text.delta', ...at, delta: text, logprobs }
        : { type: 'response.refusal.delta', ...at, delta: text };
    return [...events, delta];
  }

  private openMessage(kind: Text['kind']): JsonObject[] {
    const events: JsonObject[] = [];
    if (this.open?.type !== 'message') {
      events.push(...this.close(), ...this.calls.endWhole());
      this.open = { type: 'message', ...this.place('msg'), parts: [] };
      const { id, index } = this.open;
      const item = { id, type: 'message', status: 'in_progress', content: [], role: 'assistant' };
      events.push({ type: 'response.output_item.added', output_index: index, item });
    }
    const { open } = this;
    if (open.parts.at(-1)?.kind === kind) return events;
    events.push(...closePart(open));
    open.parts.push({ kind, text: '', annotations: [], logprobs: [] });
    const content_index = open.parts.length - 1;
    const part = partOf(open.parts[content_index]);
    const at = { item_id: open.id, output_index: open.index, content_index };
    return [...events, { type: 'response.content_part.added', ...at, part }];
  }

  private citation(citation: Citation): JsonObject[] {
    const { open } = this;
    const part = open?.type === 'message' ? open.parts.at(-1) : undefined;
    if (open?.type !== 'message' || part?.kind !== 'text') {
      this.early.push(citation);
      return [];
    }
    const annotation = annotationOf(citation);
    part.annotations.push(annotation);
    const at = { item_id: open.id, output_index: open.index, content_index: open.parts.length - 1 };
    const annotation_index = part.annotations.length - 1;
    return [{ type: 'response.output_text.annotation.added', ...at, annotation_index, annotation }];
  }

  /** Ends the reasoning or message that is open, the last one of an answer that was cut as it is. */
  private close(isCut = false): JsonObject[] {
    const { open } = this;
    this.open = null;
    if (open === null) return [];
    const item = open.type === 'message' ? messageItem(open, isCut) : this.reasoningItem(open, isCut);
    this.output[open.index] = item;
    const done = { type: 'response.output_item.done', output_index: open.index, item };
    return [...(open.type === 'message' ? closePart(open) : this.closeReasoning(open)), done];
  }

  private closeReasoning({ id, index, text }: Extract<Open, { type: 'reasoning' }>): JsonObject[] {
    const at = { item_id: id, output_index: index };
    if (this.showsSummary)
      return [
        { type: 'response.reasoning_summary_text.done', ...at, summary_index: 0, text },
        { type: 'response.reasoning_summary_part.done', ...at, summary_index: 0, part: summaryPart(text) },
      ];
    return [
      { type: 'response.reasoning_text.done', ...at, content_index: 0, text },
      { type: 'response.content_part.done', ...at, content_index: 0, part: reasoningPart(text) },
    ];
  }

  private reasoningItem(
    { id, text, sealed }: Extract<Open, { type: 'reasoning' }>,
    isCut: boolean,
  ): JsonObject {
    const shown = this.showsSummary
      ? { summary: text === '' ? [] : [summaryPart(text)] }
      : { summary: [], ...(text === '' ? {} : { content: [reasoningPart(text)] }) };
    const encrypted = sealed === null ? {} : { encrypted_content: sealed };
    return { id, type: 'reasoning', ...shown, ...encrypted, ...(isCut ? { status: 'incomplete' } : {}) };
  }

  private end(): JsonObject[] {
    const events = [
      ...this.begin(),
      ...this.numbered([...this.close(this.isCut), ...this.calls.endAll(this.isCut)]),
    ];
    this.isOver = true;
    const { raw, usage } = this.usage;
    const status = this.isGivenUp ? 'failed' : this.isCut ? 'incomplete' : 'completed';
    const response = this.response({
      status,
      error: status === 'failed' ? givenUp(this.finish?.reason) : null,
      incompleteReason: incompleteReason(this.finish?.reason),
      completedAt: status === 'completed' ? Math.max(this.createdAt, this.facts.now()) : null,
      usage: responsesUsage(this.facts.believed(usage), raw, this.facts, false),
    });
    return [...events, ...this.numbered([{ type: `response.${status}`, response }])];
  }

  private get isGivenUp(): boolean {
    return GIVEN_UP.has(this.finish?.reason ?? '');
  }

  private get isCut(): boolean {
    return this.isGivenUp || incompleteReason(this.finish?.reason) !== null;
  }

  private get createdAt(): number {
    return this.start?.created ?? this.facts.created;
  }

  private response(state: Partial<ResponseState>): JsonObject {
    const { facts, start } = this;
    const tier = start?.serviceTier ?? facts.tier;
    return responseObject(
      {
        id: start?.id?.startsWith('resp_') === true ? start.id : facts.answerId(),
        createdAt: this.createdAt,
        serviceTier: tier === 'standard' ? 'default' : tier,
        status: 'in_progress',
        completedAt: null,
        output: this.isOver ? this.output : [],
        usage: null,
        error: null,
        incompleteReason: null,
        ...state,
      },
      this.request,
      facts,
    );
  }

  private place(prefix: string): { id: string; index: number } {
    const id = this.itemId(prefix);
    const index = this.output.length;
    this.output.push({});
    return { id, index };
  }

  private itemId(prefix: string): string {
    const own = this.facts
      .answerId()
      .replace(/^[a-z]+_/, '')
      .replaceAll('-', '');
    return `${prefix}_${ITEM_MARK}${own}${this.output.length}`;
  }

  private numbered(events: JsonObject[]): JsonObject[] {
    return events.map((event) => ({ ...event, sequence_number: this.sequence++ }));
  }
}

/** Reasons of other formats for an answer that the provider could not go on with: this one says that it has failed. */
const GIVEN_UP: ReadonlySet<string> = new Set(['error', 'ERROR', 'TIMEOUT', 'insufficient_system_resource']);

function givenUp(reason = ''): JsonObject {
  return { code: 'server_error', message: `The provider ended the answer with ${reason}.` };
}

function incompleteReason(reason: string | undefined): string | null {
  if (reason === 'length') return 'max_output_tokens';
  return reason === 'content_filter' ? 'content_filter' : null;
}

function summaryPart(text: string): JsonObject {
  return { type: 'summary_text', text };
}

function reasoningPart(text: string): JsonObject {
  return { type: 'reasoning_text', text };
}

function partOf({ kind, text, annotations, logprobs }: Text): JsonObject {
  return kind === 'text'
    ? { type: 'output_text', annotations: [...annotations], logprobs: [...logprobs], text }
    : { type: 'refusal', refusal: text };
}

function closePart({ id, index, parts }: Extract<Open, { type: 'message' }>): JsonObject[] {
  const last = parts.at(-1);
  if (!last) return [];
  const at = { item_id: id, output_index: index, content_index: parts.length - 1 };
  const done =
    last.kind === 'text'
      ? { type: 'response.output_text.done', ...at, text: last.text, logprobs: [...last.logprobs] }
      : { type: 'response.refusal.done', ...at, refusal: last.text };
  return [done, { type: 'response.content_part.done', ...at, part: partOf(last) }];
}

function messageItem({ id, parts }: Extract<Open, { type: 'message' }>, isCut: boolean): JsonObject {
  return {
    id,
    type: 'message',
    status: isCut ? 'incomplete' : 'completed',
    content: parts.map(partOf),
    role: 'assistant',
  };
}

function annotationOf({ url, title, start, end }: Citation): JsonObject {
  return { type: 'url_citation', url, title, start_index: start ?? 0, end_index: end ?? 0 };
}

/** The middle form has them as chat does. */
function logprobsOf(logprobs: unknown): unknown[] {
  const { content } = objectOf(logprobs);
  return Array.isArray(content) ? (content as unknown[]) : [];
}
