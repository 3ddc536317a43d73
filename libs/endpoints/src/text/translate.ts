import type { ApiError } from '@gateway/contracts';
import { spellBody, writeJson } from '@gateway/json-body';
import {
  AnswerCallIds,
  distinctCalls,
  badAnswer,
  EVENT_STREAM,
  EVENT_STREAM_HEADERS,
  failurePiece,
  isOpening,
  Unsupported,
  parseUpstreamText,
  JSON_HEADERS,
  newBetaNames,
  TEXT_DIALECTS,
  type Answer,
  type AnswerDecoder,
  type AnswerEncoder,
  type AnswerFacts,
  type AnswerHead,
  type Decoded,
  type EncodedRequest,
  type ModelEvent,
  type ModelRequest,
  type Piece,
  type RouteTarget,
  type TextCaller,
  type TextDialect,
  type Translation,
  type UpstreamBody,
} from '@gateway/dialects';

/** Any caller's text dialect to any upstream's, through the middle form; in one and the same dialect bytes are edited. */
export function translateText(
  caller: TextCaller,
  request: ModelRequest,
  target: RouteTarget,
): Translation | Unsupported {
  const upstream = TEXT_DIALECTS.get(target.dialect);
  if (!upstream) return new Unsupported(null);
  const native =
    target.dialect === request.dialect
      ? undefined
      : request.requires.find(({ capability }) => capability === 'same_dialect');
  const param = native?.param ?? upstream.upstream.unsupported(request, target);
  if (param === null) return new TextTranslation(caller, upstream, request, target);
  const { callerNames } = request;
  if (param === callerNames.stop) {
    const most = upstream.upstream.stopMax?.(target) ?? 0;
    return new Unsupported(
      param,
      undefined,
      `${most === 0 ? '' : `more than ${most} `}stop sequences (${param})`,
    );
  }
  return new Unsupported(param, request.requires.find((one) => one.param === param)?.value);
}

class TextTranslation implements Translation {
  readonly atProvider: string | undefined;
  private encoded: EncodedRequest | null = null;

  constructor(
    private readonly caller: TextCaller,
    private readonly dialect: TextDialect,
    private readonly modelRequest: ModelRequest,
    private readonly target: RouteTarget,
  ) {
    const { unknownAtProvider: unknown } = modelRequest;
    this.atProvider = unknown !== undefined && this.takesNewer ? unknown : undefined;
  }

  get request(): UpstreamBody {
    return this.prepare().request;
  }

  prepare(): EncodedRequest {
    const { modelRequest, dialect, target } = this;
    if (this.encoded !== null) return this.encoded;
    // Its parts are written anew in another format; in the caller's own its bytes go on.
    if (dialect.name === modelRequest.dialect)
      return (this.encoded = dialect.upstream.encode(modelRequest, target));
    spellBody(modelRequest.body);
    const own = { ...modelRequest, turns: distinctCalls(modelRequest.turns) };
    return (this.encoded = dialect.upstream.encode(own, target));
  }

  get ignored(): readonly string[] {
    if (this.encoded === null) return [];
    const { ignored } = this.encoded;
    return this.modelRequest.newBetas === undefined || this.takesNewer
      ? ignored
      : [...ignored, ...newBetaNames(this.modelRequest)];
  }

  private get takesNewer(): boolean {
    return this.dialect.name === this.modelRequest.dialect && this.target.quirks.takesNewer === true;
  }

  begin({ contentType }: AnswerHead, facts: AnswerFacts): Answer {
    const { modelRequest, target, dialect } = this;
    // An upstream may answer whole though a stream was asked for: the same answer is sent as a stream.
    const isWhole =
      !modelRequest.stream || !contentType.includes(dialect.upstream.streamType ?? EVENT_STREAM);
    const isOtherForm = modelRequest.stream && isWhole;
    const decoder = dialect.upstream.decoder(target, this.encoded?.toolNames);
    return new TextAnswer(this.caller, modelRequest, decoder, facts, {
      isWhole,
      isNative: dialect.name === modelRequest.dialect && !isOtherForm,
      deprecatedCacheKey: target.quirks.deprecatedCacheKey ?? false,
    });
  }
}

/** One answer: what the decoder reads is counted, then written in the caller's dialect. */
class TextAnswer implements Answer {
  readonly isWhole: boolean;
  readonly headers: Readonly<Record<string, string>>;
  private readonly encoder: AnswerEncoder;
  private deliveredBytes = 0;
  /** None while no tool was called. */
  private callIds: AnswerCallIds | null = null;

  constructor(
    private readonly caller: TextCaller,
    private readonly modelRequest: ModelRequest,
    private readonly decoder: AnswerDecoder,
    private readonly facts: AnswerFacts,
    kind: { isWhole: boolean; isNative: boolean; deprecatedCacheKey: boolean },
  ) {
    this.isWhole = kind.isWhole;
    this.headers = modelRequest.stream ? EVENT_STREAM_HEADERS : JSON_HEADERS;
    const textFacts = {
      ...facts,
      excludeReasoning: modelRequest.reasoning?.exclude ?? false,
      deprecatedCacheKey: kind.deprecatedCacheKey,
      includeUsage: modelRequest.includeUsage,
      legacyFunctions: modelRequest.legacyFunctions,
      stop: modelRequest.stop,
    };
    this.encoder = caller.encoder(textFacts, kind.isNative, modelRequest);
  }

  get stored(): Readonly<Record<string, unknown>> | null {
    return this.encoder.stored ?? null;
  }

  push(chunk: Uint8Array): Piece[] {
    return this.isWhole ? this.whole(chunk) : this.pieces(this.decoder.push(chunk));
  }

  end(): Piece[] {
    return this.pieces(this.decoder.end());
  }

  fail(error: ApiError): string {
    const { requestId } = this.facts;
    return this.encoder.fail?.(error, requestId) ?? this.caller.errorFrame(error, requestId);
  }

  private whole(bytes: Uint8Array): Piece[] {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
    const body = parseUpstreamText(text);
    if (body === null) return [badAnswer('the answer is not a JSON object.')];
    const answer = this.decoder.whole(body, text);
    const failed = answer.events.find((event) => event.type === 'error');
    if (failed) return [failurePiece(failed.failure)];
    const piece: Piece = { kind: 'end', out: '' };
    this.count(answer, piece);
    if (this.modelRequest.stream) piece.out = this.encoder.write(answer);
    else {
      const whole = this.encoder.whole(answer);
      piece.out = this.encoder.isSpelled === false ? JSON.stringify(whole) : writeJson(whole);
    }
    return [piece];
  }

  /** Joins pieces that came together: one piece, and one more where it ends in a failure. */
  private pieces(frames: Decoded[]): Piece[] {
    const piece: Piece = { kind: 'wait', out: '' };
    let out = '';
    for (const frame of frames) {
      const failed = this.count(frame, piece);
      out += this.encoder.write(frame);
      if (!failed) continue;
      piece.out = out;
      return piece.kind === 'wait' ? [failurePiece(failed.failure)] : [piece, failurePiece(failed.failure)];
    }
    piece.out = out;
    return [piece];
  }

  /** Gives each call an id of its own, and notes on the piece what the frame's events say; answers the error that it ends in. */
  private count(frame: Decoded, piece: Piece): Extract<ModelEvent, { type: 'error' }> | null {
    for (const event of frame.events) {
      switch (event.type) {
        case 'error':
          return event;
        case 'ping':
          continue;
        case 'text':
        case 'refusal':
        case 'reasoning':
        case 'tool_arguments':
          this.deliveredBytes += Buffer.byteLength(event.text);
          break;
        case 'tool_start':
          this.callIds ??= new AnswerCallIds(this.modelRequest);
          event.id = this.callIds.distinct(event.id, event.choice);
          break;
        case 'usage':
          piece.usage = event.usage;
          break;
        case 'finish':
          piece.finishSeen = true;
          (piece.finishReasons ??= []).push(event.reason);
          break;
        default:
          break;
      }
      if (event.type === 'end') piece.kind = 'end';
      else if (piece.kind === 'wait') piece.kind = 'opening';
    }
    if (piece.kind !== 'end' && !isOpening(frame)) piece.kind = 'part';
    piece.deliveredBytes = this.deliveredBytes;
    piece.isText = true;
    return null;
  }
}
