import { answerTo, isEndless } from './answer.js';
import { chatDialect } from './chat.js';
import { CREATED_AT, type AnswerContext, type SimDialect } from './dialect.js';
import type { NativeError } from './error-table.js';
import { errorOf, FailureCounter } from './faults.js';
import { framesOf } from './frames.js';
import { serveHttp, type Exchange, type HttpServer } from './http-server.js';
import { isObject, parseJson, textOf, type JsonObject } from './json.js';
import { messagesDialect } from './messages.js';
import { playBeforeHead, playPlain, playStream } from './play.js';
import { ID_PLACE, PrebuiltAnswers } from './prebuilt.js';
import type { LiveSession } from './realtime/live-session.js';
import type { RealtimeSession } from './realtime/realtime-session.js';
import { RealtimeSim } from './realtime/realtime-sim.js';
import { Recorder, type RecordedRequest } from './record.js';
import { headOf, JSON_TYPE, sendWhole, streamHeadOf } from './reply.js';
import { responsesDialect } from './responses.js';
import { readScript, ScriptFault, type Script } from './script.js';
import { isNativeError, type SimAnswer, type SimEndpoint } from './sim-endpoint.js';
import { SIM_ENDPOINTS } from './sim-endpoints.generated.js';

export interface UpstreamSimOptions {
  /** 0, the default, takes any free port. */
  readonly port?: number;
  /** Loopback by default: the simulator has no real credential check. */
  readonly host?: string;
  /** Number of requests stored for requests(); 1,000 by default, 0 stores none. */
  readonly record?: number;
  /**
   * True for load tests: a body above 16 KB is scanned for its model and stream flag instead of parsed, so it is
   * neither checked nor echoed.
   */
  readonly scanLargeBodies?: boolean;
  /** Milliseconds since the epoch, for the birth of answers. Absent: they are equal from run to run. */
  readonly now?: () => number;
}

export interface UpstreamSim {
  /** `http://127.0.0.1:<port>`, without a slash at the end and without `/v1`. */
  readonly url: string;
  readonly port: number;
  /** The last requests, oldest first. */
  requests(): RecordedRequest[];
  /** Forgets the requests, the counts of fail-first scripts and what `script` has ordered. */
  reset(): void;
  /**
   * Orders what becomes of the next requests, one script each ('' is answered as it asks), and of every one after them;
   * for callers whose model names and headers are not their own. Forgets what was there before.
   */
  script(next: readonly string[], afterwards?: string): void;
  /** Realtime sessions that were opened, oldest first, each with the events that came. */
  sessions(): readonly RealtimeSession[];
  /** The same of Google's Live API. */
  liveSessions(): readonly LiveSession[];
  /** TCP connections open now and accepted since the start. */
  connections(): { open: number; accepted: number };
  close(): Promise<void>;
}

const SCAN_ABOVE_BYTES = 16 * 1024;
const MODELS = [
  'sim-chat',
  'sim-chat-tools',
  'sim-chat-reasoning',
  'sim-claude',
  'sim-claude-tools',
  'sim-claude-strict',
];

/** Starts the simulated provider on loopback; what it answers stands in tools/upstream-sim/README.md. */
export async function startUpstreamSim(options: UpstreamSimOptions = {}): Promise<UpstreamSim> {
  const simulator = new Simulator(options);
  const host = options.host ?? '127.0.0.1';
  const realtime = new RealtimeSim();
  const server = await serveHttp(
    { host, port: options.port ?? 0 },
    (exchange) => simulator.handle(exchange),
    (request, socket, head) => realtime.upgrade(request, socket, head),
  );
  simulator.server = server;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${server.port}`,
    port: server.port,
    requests: () => simulator.recorder.list(),
    reset: () => simulator.reset(),
    script: (next, afterwards) => simulator.order(next, afterwards),
    sessions: () => realtime.sessions,
    liveSessions: () => realtime.liveSessions,
    connections: () => server.connections(),
    close: () => server.close(),
  };
}

class Simulator {
  readonly recorder: Recorder;
  server: HttpServer | undefined;
  private readonly prebuilt = new PrebuiltAnswers();
  private readonly failures = new FailureCounter();
  private answers = 0;
  private ordered: string[] = [];
  private usual = '';

  constructor(private readonly options: UpstreamSimOptions) {
    this.recorder = new Recorder(options.record ?? 1_000);
  }

  reset(): void {
    this.recorder.reset();
    this.failures.reset();
    this.ordered = [];
    this.usual = '';
  }

  order(next: readonly string[], afterwards = ''): void {
    this.reset();
    this.ordered = [...next];
    this.usual = afterwards;
  }

  handle(exchange: Exchange): void {
    const { method, path } = exchange.request;
    const query = path.indexOf('?');
    const route = query < 0 ? path : path.slice(0, query);
    if (route.startsWith('/__sim/')) return this.control(exchange, route);
    this.recorder.see(exchange);
    const dialect = route.endsWith('/chat/completions')
      ? chatDialect
      : route.endsWith('/messages')
        ? messagesDialect
        : route.endsWith('/responses')
          ? responsesDialect
          : undefined;
    if (dialect !== undefined && method === 'POST') return this.infer(exchange, dialect);
    const endpoint = SIM_ENDPOINTS.find(
      ({ path, method: wanted = 'POST' }) => wanted === method && isAt(route, path),
    );
    if (endpoint !== undefined) return this.answerWhole(exchange, endpoint);
    if (route.endsWith('/models') && method === 'GET') return listModels(exchange);
    const message = `Invalid URL (${method} ${route})`;
    sendWhole(exchange, 404, JSON_TYPE, JSON.stringify(chatDialect.refuse(404, message).body));
  }

  private control(exchange: Exchange, route: string): void {
    if (route === '/__sim/reset') this.reset();
    const found =
      route === '/__sim/requests' ? this.recorder.list() : { connections: this.server?.connections() };
    sendWhole(exchange, 200, JSON_TYPE, JSON.stringify(found));
  }

  private infer(exchange: Exchange, dialect: SimDialect): void {
    const { headers, body, path } = exchange.request;
    const text = this.orderedOr(headers['x-sim']);
    const refused = dialect.checkHeaders(headers);
    if (refused !== undefined) return sendError(exchange, refused);
    const isScripted = text !== undefined;
    const createdAt = this.createdAt();
    // The version header changes what is refused, so it is part of what an answer depends on.
    const key = isScripted
      ? undefined
      : this.prebuilt.keyOf(`${path}${headers['anthropic-version'] ?? ''}${createdAt}`, body);
    if (key !== undefined && !exchange.request.http10 && this.prebuilt.send(key, exchange, this.nextId()))
      return;
    try {
      this.inferParsed(exchange, dialect, { key, text });
    } catch (error) {
      if (!(error instanceof ScriptFault)) throw error;
      sendFault(exchange, dialect, error);
    }
  }

  private answerWhole(exchange: Exchange, endpoint: SimEndpoint): void {
    const { headers, body, path } = exchange.request;
    const refused = endpoint.isOpen === true ? undefined : chatDialect.checkHeaders(withKey(headers));
    if (refused !== undefined) return sendError(exchange, refused);
    const origin = `http://${headers.host ?? 'localhost'}`;
    const contentType = headers['content-type'] ?? '';
    const parsed = contentType.startsWith(JSON_TYPE) ? parseJson(body.toString('utf8')) : undefined;
    const json = isObject(parsed) ? parsed : undefined;
    try {
      const script = this.scriptOf(json ?? {}, exchange, this.orderedOr(headers['x-sim']));
      const request = {
        json,
        body,
        contentType,
        path,
        origin,
        script,
        id: this.nextId(),
        createdAt: this.createdAt(),
      };
      void playWhole(exchange, script, () => endpoint.answer(request));
    } catch (error) {
      if (!(error instanceof ScriptFault)) throw error;
      sendFault(exchange, chatDialect, error);
    }
  }

  /** Returns the order for this request, else the one of its own header. */
  private orderedOr(header: string | undefined): string | undefined {
    const ordered = this.ordered.shift() ?? this.usual;
    return ordered === '' ? header : ordered;
  }

  private inferParsed(
    exchange: Exchange,
    dialect: SimDialect,
    { key, text }: { key: string | undefined; text: string | undefined },
  ): void {
    const { headers, body } = exchange.request;
    const isScanned = this.options.scanLargeBodies === true && body.length > SCAN_ABOVE_BYTES;
    const parsed = isScanned ? scanBody(body) : parseJson(body.toString('utf8'));
    if (!isObject(parsed)) {
      return sendError(exchange, dialect.refuse(400, 'We could not parse the JSON body of your request.'));
    }
    const script = this.scriptOf(parsed, exchange, text);
    const refused = isScanned ? undefined : dialect.check(parsed, headers, script);
    if (refused !== undefined) return sendError(exchange, refused);
    const ask = dialect.readAsk(parsed, script);
    const context = {
      id: this.nextId(),
      createdAt: this.createdAt(),
      ask,
      answer: answerTo(ask, script),
      script,
    };
    if (key !== undefined && script.isRepeatable && !exchange.request.http10) {
      this.prebuilt.keep(key, prebuild(exchange, dialect, { ...context, id: ID_PLACE }));
      if (this.prebuilt.send(key, exchange, context.id)) return;
    }
    void play(exchange, dialect, context);
  }

  private scriptOf(body: JsonObject, exchange: Exchange, text: string | undefined): Script {
    const script = readScript(textOf(body.model ?? body.model_id), text);
    return this.failures.apply(script, exchange.request.body.toString('latin1', 0, SCAN_ABOVE_BYTES));
  }

  private createdAt(): number {
    const { now } = this.options;
    return now === undefined ? CREATED_AT : Math.floor(now() / 1_000);
  }

  private nextId(): string {
    this.answers += 1;
    return this.answers.toString(36).padStart(12, '0');
  }
}

function isAt(route: string, path: SimEndpoint['path']): boolean {
  if (path instanceof RegExp) return path.test(route);
  return [path].flat().some((end) => route.endsWith(end));
}

/** Headers in which providers of other kinds take their key. */
const KEY_HEADERS = ['x-api-key', 'x-subscription-token', 'x-goog-api-key', 'xi-api-key'];

function withKey(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  // Of a signed request the signature is not judged; Deepgram calls its key a token.
  const signer = /^(?:AWS4-HMAC-SHA256 Credential=|Token )([^/,]+)/.exec(headers.authorization ?? '')?.[1];
  if (signer !== undefined) return { authorization: `Bearer ${signer}` };
  const name = KEY_HEADERS.find((one) => one in headers);
  return name === undefined ? headers : { authorization: `Bearer ${headers[name]}` };
}

/** Everything that takes time or breaks off; a script's fault found on the way is answered while that is possible. */
async function play(exchange: Exchange, dialect: SimDialect, context: AnswerContext): Promise<void> {
  const { script, ask } = context;
  try {
    const error = errorOf(script, dialect);
    if (!(await playBeforeHead(exchange, script))) return;
    if (error !== undefined && !(ask.isStream && script.values.has('inband')))
      return sendError(exchange, error);
    if (!ask.isStream && !isEndless(script))
      return playPlain(exchange, script, {
        ...{ contentType: JSON_TYPE, body: JSON.stringify(dialect.plain(context)) },
      });
    await playStream(exchange, { dialect, script, events: dialect.events(context), error });
  } catch (error) {
    sendFault(exchange, dialect, error);
  }
}

async function playWhole(
  exchange: Exchange,
  script: Script,
  answer: () => SimAnswer | NativeError,
): Promise<void> {
  try {
    const error = errorOf(script, chatDialect);
    if (!(await playBeforeHead(exchange, script))) return;
    const answered = error ?? answer();
    if (isNativeError(answered)) sendError(exchange, answered);
    else playPlain(exchange, script, answered);
  } catch (error) {
    sendFault(exchange, chatDialect, error);
  }
}

function sendFault(exchange: Exchange, dialect: SimDialect, error: unknown): void {
  if (exchange.closed) return;
  const refused =
    error instanceof ScriptFault
      ? dialect.refuse(400, `simulator script: ${error.message}`)
      : dialect.refuse(500, 'simulator fault');
  sendError(exchange, refused);
}

function prebuild(exchange: Exchange, dialect: SimDialect, context: AnswerContext): string {
  if (!context.ask.isStream) {
    const body = JSON.stringify(dialect.plain(context));
    return headOf(200, JSON_TYPE, Buffer.byteLength(body)) + body;
  }
  let text = streamHeadOf(exchange);
  for (const frame of framesOf(dialect.events(context), context.script, dialect)) {
    text += `${Buffer.byteLength(frame).toString(16)}\r\n${frame}\r\n`;
  }
  return `${text}0\r\n\r\n`;
}

function sendError(exchange: Exchange, error: NativeError): void {
  sendWhole(exchange, error.status, JSON_TYPE, JSON.stringify(error.body), error.headers);
}

function listModels(exchange: Exchange): void {
  const data = MODELS.map((id) => ({ id, object: 'model', created: CREATED_AT, owned_by: 'simulator' }));
  sendWhole(exchange, 200, JSON_TYPE, JSON.stringify({ object: 'list', data }));
}

const MODEL = Buffer.from('"model":');
const STREAM = /"stream"\s*:\s*true/;
const EDGE_BYTES = 4_096;

/**
 * The model and the stream flag of a body too large to parse under load. They are looked for in the first and
 * last 4 KB, where every known client puts them; a body with neither there is an ordinary `sim-chat` request.
 */
function scanBody(body: Buffer): JsonObject {
  const edges =
    body.toString('latin1', 0, EDGE_BYTES) +
    body.toString('latin1', Math.max(EDGE_BYTES, body.length - EDGE_BYTES));
  const at = edges.indexOf(MODEL.toString('latin1'));
  const model = at < 0 ? undefined : /^"model":\s*"([^"]*)"/.exec(edges.slice(at))?.[1];
  return {
    model: model ?? 'sim-chat',
    stream: STREAM.test(edges),
    max_tokens: 1_024,
    messages: [{ role: 'user', content: `a body of ${body.length} bytes` }],
  };
}
