import { fillSchema } from './fill-schema.js';
import type { Json } from './json.js';
import { isOn, numberOf, type Script } from './script.js';

/** A request of either dialect, reduced to what decides the answer. */
export interface Ask {
  readonly model: string;
  readonly isStream: boolean;
  readonly lastUserText: string;
  /** Results of the last turn where the last message carries tool results, otherwise empty. */
  readonly toolResults: readonly string[];
  readonly tools: readonly { name: string; schema: Json | undefined }[];
  readonly toolChoice: 'auto' | 'none' | 'required' | { name: string };
  readonly isParallel: boolean;
  /** The schema of structured output, the text `object` for any object, undefined for free text. */
  readonly outputSchema: Json | undefined;
  readonly isThinking: boolean;
  readonly maxTokens: number | undefined;
  /** UTF-8 bytes of every text in system and messages. */
  readonly promptBytes: number;
  readonly choices: number;
  readonly includeUsage: boolean;
}

interface ToolCall {
  readonly name: string;
  /** JSON text; empty for a call that streams no arguments at all. */
  readonly args: string;
}

export interface Tokens {
  /** The whole prompt, cached and cache-written parts included. */
  readonly prompt: number;
  readonly completion: number;
  readonly cached: number;
  readonly cacheWrite: number;
  readonly cacheWrite1h: number;
  /** Part of `completion`. */
  readonly reasoning: number;
}

export interface Answer {
  /** Undefined where nothing was thought; empty for a thought that shows only its signature. */
  readonly thinking: string | undefined;
  readonly text: string;
  readonly refusal: string | undefined;
  readonly calls: readonly ToolCall[];
  /** `natural` leaves the choice of the native word to the dialect. */
  readonly finish: 'natural' | 'length' | { native: string };
  readonly tokens: Tokens;
}

const THOUGHT = 'The user expects a short and friendly answer, so I keep it simple.';
const FILLER = 'The quick brown fox jumps over the lazy dog. ';
const MAX_ECHO = 200;

/** The answer to `ask`: a function of the request and its script only. */
export function answerTo(ask: Ask, script: Script): Answer {
  const calls = toolCalls(ask, script);
  const refusal = script.values.get('refusal');
  const full =
    refusal !== undefined || (calls.length > 0 && !script.values.has('text')) ? '' : freeText(ask, script);
  const text = withinLimit(full, ask, script);
  const thinking = script.values.get('think') ?? (ask.isThinking ? THOUGHT : undefined);
  const native = script.values.get('finish');
  const finish = native !== undefined ? { native } : text.length < full.length ? 'length' : 'natural';
  const reasoning = numberOf(script, 'reasoning', tokensOf(thinking ?? ''));
  const said = tokensOf(text + (refusal ?? '') + calls.map((call) => call.args).join(''));
  const tokens: Tokens = {
    prompt: numberOf(script, 'prompt', Math.max(1, Math.ceil(ask.promptBytes / 4))),
    completion: numberOf(script, 'completion', said * ask.choices + reasoning),
    cached: numberOf(script, 'cached', 0),
    cacheWrite: numberOf(script, 'cache_write', numberOf(script, 'cache_write_1h', 0)),
    cacheWrite1h: numberOf(script, 'cache_write_1h', 0),
    reasoning,
  };
  return { thinking, text, refusal, calls, finish, tokens };
}

/** The simulator's token count of a text: one for every four bytes begun. */
function tokensOf(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 4);
}

function freeText(ask: Ask, script: Script): string {
  const scripted = script.values.get('text');
  if (scripted !== undefined) return scripted;
  const bytes = numberOf(script, 'bytes', 0);
  if (bytes > 0) return FILLER.repeat(Math.ceil(bytes / FILLER.length)).slice(0, bytes);
  if (script.values.get('cut_in') === 'utf8') return 'Grüße aus Köln 😀, schöne Welt.';
  if (ask.outputSchema === 'object') return JSON.stringify({ answer: echoOf(ask.lastUserText) });
  if (ask.outputSchema !== undefined)
    return JSON.stringify(fillSchema(ask.outputSchema, echoOf(ask.lastUserText)));
  if (ask.toolResults.length > 0) return `The tools answered: ${ask.toolResults.map(echoOf).join(' and ')}`;
  const echo = echoOf(ask.lastUserText);
  if (echo === '') return 'Hello from the simulated provider!';
  return `Hello from the simulated provider! You said: "${echo}". Everything on the way between us works.`;
}

function echoOf(text: string): string {
  let flat = '';
  // Of a text of megabytes no more is looked at than is said: it would take twenty times its bytes of the heap.
  for (const [word] of text.matchAll(/\S+/g)) {
    flat += `${flat === '' ? '' : ' '}${word}`.slice(0, 2 * MAX_ECHO);
    if (flat.length > 2 * MAX_ECHO) break;
  }
  return flat.length <= MAX_ECHO ? flat : `${[...flat].slice(0, MAX_ECHO).join('')}…`;
}

/** Ordinary text respects the caller's limit; scripted text and sizes are sent as they were asked for. */
function withinLimit(text: string, ask: Ask, script: Script): string {
  if (ask.maxTokens === undefined || script.values.has('text') || script.values.has('bytes')) return text;
  if (tokensOf(text) <= ask.maxTokens) return text;
  return Buffer.from(text)
    .subarray(0, ask.maxTokens * 4)
    .toString('utf8')
    .replace(/\uFFFD+$/, '');
}

function toolCalls(ask: Ask, script: Script): ToolCall[] {
  if (script.values.has('tools')) return scriptedCalls(ask, script);
  if (ask.tools.length === 0 || ask.toolResults.length > 0 || ask.toolChoice === 'none') return [];
  if (ask.toolChoice === 'auto' && !script.words.has('tools')) return [];
  const named = typeof ask.toolChoice === 'object' ? ask.toolChoice.name : undefined;
  const tool = ask.tools.find((candidate) => candidate.name === named) ?? ask.tools[0];
  return [{ name: tool.name, args: argsFor(tool.schema, ask, script) }];
}

function scriptedCalls(ask: Ask, script: Script): ToolCall[] {
  // A scripted call is made once a turn: with its results in hand the loop of the caller must end.
  if (ask.toolResults.length > 0) return [];
  const wanted = Math.min(numberOf(script, 'tools', 1), 100);
  const count = ask.isParallel ? wanted : Math.min(wanted, 1);
  return Array.from({ length: count }, (_, index) => {
    const tool = ask.tools[index % Math.max(1, ask.tools.length)] ?? {
      name: `sim_tool_${index}`,
      schema: undefined,
    };
    return { name: tool.name, args: argsFor(tool.schema, ask, script) };
  });
}

function argsFor(schema: Json | undefined, ask: Ask, script: Script): string {
  const scripted = script.values.get('tool_args');
  if (scripted === 'none') return '';
  if (scripted !== undefined) return scripted;
  return JSON.stringify(fillSchema(schema ?? { type: 'object' }, echoOf(ask.lastUserText).slice(0, 40)));
}

/** The pieces a text is streamed in: words, or `chunk` characters each. */
export function* piecesOf(text: string, script: Script): Generator<string> {
  const size = numberOf(script, 'chunk', 0);
  if (size === 0) {
    yield* text.match(/\s*\S+\s*?(?=\s|$)|\s+$/g) ?? [];
    return;
  }
  const characters = [...text];
  for (let at = 0; at < characters.length; at += size) yield characters.slice(at, at + size).join('');
}

/** The fragments that a call's arguments are streamed in, three unless `tool_fragments` says. */
export function fragmentsOf(args: string, script: Script): string[] {
  if (args === '') return [];
  const count = Math.max(1, Math.min(numberOf(script, 'tool_fragments', 3), args.length));
  const size = Math.ceil(args.length / count);
  return Array.from({ length: Math.ceil(args.length / size) }, (_, index) =>
    args.slice(index * size, (index + 1) * size),
  );
}

/** Text without end, for streams that the caller must stop. */
export function* endlessPieces(): Generator<string> {
  for (let count = 1; ; count += 1) yield `word${count} `;
}

export function isEndless(script: Script): boolean {
  return isOn(script, 'endless');
}
