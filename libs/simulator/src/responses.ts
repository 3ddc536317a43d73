import {
  endlessPieces,
  fragmentsOf,
  isEndless,
  piecesOf,
  type Answer,
  type Ask,
  type Tokens,
} from './answer.js';
import { chatDialect } from './chat.js';
import { checkResponses } from './check-responses.js';
import { type AnswerContext, type SimDialect, type SimEvent } from './dialect.js';
import { objectOf, objectsOf, isObject, textOf, type Json, type JsonObject } from './json.js';
import { isOn, type Script } from './script.js';

/** OpenAI responses: credential and errors are those of chat. It keeps nothing, so an earlier response is only a name. */
export const responsesDialect: SimDialect = {
  errors: chatDialect.errors,
  checkHeaders: (headers) => chatDialect.checkHeaders(headers),
  check: (body) => checkResponses(body),
  refuse: (status, message) => chatDialect.refuse(status, message),
  readAsk,
  plain: (context) => responseOf(context, 'completed', outputOf(context)),
  events,
  errorEvent: ({ body }) => {
    const error = objectOf(objectOf(body as Json).error);
    return { name: 'error', data: JSON.stringify({ type: 'error', error, sequence_number: 0 }) };
  },
  keepAlive: ': keep-alive\n\n',
};

function readAsk(body: JsonObject, script: Script): Ask {
  const items =
    typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : objectsOf(body.input);
  const lastUser = items.findLast((item) => item.role === 'user');
  const results: string[] = [];
  for (let at = items.length - 1; at >= 0 && textOf(items[at].type).endsWith('_output'); at -= 1)
    results.unshift(textsOf(items[at].output));
  const texts = items.map((item) => textsOf(item.content ?? item.output ?? item.arguments ?? item.input));
  return {
    model: textOf(body.model),
    isStream: body.stream === true,
    lastUserText: textsOf(lastUser?.content),
    toolResults: results,
    tools: objectsOf(body.tools).map((tool) => ({ name: textOf(tool.name), schema: tool.parameters })),
    toolChoice: readChoice(body.tool_choice),
    isParallel: body.parallel_tool_calls !== false,
    outputSchema: readFormat(objectOf(objectOf(body.text).format)),
    isThinking: script.words.has('reasoning') || script.words.has('thinking'),
    maxTokens: typeof body.max_output_tokens === 'number' ? body.max_output_tokens : undefined,
    promptBytes: [textOf(body.instructions), ...texts].reduce(
      (sum, text) => sum + Buffer.byteLength(text),
      0,
    ),
    choices: 1,
    includeUsage: true,
  };
}

function textsOf(content: Json | undefined): string {
  if (typeof content === 'string') return content;
  return objectsOf(content)
    .map((part) => textOf(part.text))
    .join('');
}

function readChoice(choice: Json | undefined): Ask['toolChoice'] {
  if (choice === 'none' || choice === 'required') return choice;
  if (!isObject(choice)) return 'auto';
  if (choice.type === 'allowed_tools') return choice.mode === 'required' ? 'required' : 'auto';
  return { name: textOf(choice.name) };
}

function readFormat(format: JsonObject): Ask['outputSchema'] {
  if (format.type === 'json_object') return 'object';
  return format.type === 'json_schema' ? (format.schema ?? 'object') : undefined;
}

function usageOf(tokens: Tokens): object {
  return {
    input_tokens: tokens.prompt,
    input_tokens_details: { cached_tokens: tokens.cached, cache_write_tokens: tokens.cacheWrite },
    output_tokens: tokens.completion,
    output_tokens_details: { reasoning_tokens: tokens.reasoning },
    total_tokens: tokens.prompt + tokens.completion,
  };
}

function incompleteReason({ finish }: Answer): string | null {
  if (finish === 'length') return 'max_output_tokens';
  return typeof finish === 'object' && finish.native !== 'completed' ? finish.native : null;
}

function responseOf(
  { id, createdAt, ask, answer, script }: AnswerContext,
  status: string,
  output: object[],
): object {
  const reason = status === 'completed' ? incompleteReason(answer) : null;
  const isFinal = status === 'completed';
  return {
    id: `resp_sim${id}`,
    object: 'response',
    created_at: createdAt,
    status: reason === null ? status : 'incomplete',
    background: false,
    error: null,
    incomplete_details: reason === null ? null : { reason },
    instructions: null,
    max_output_tokens: ask.maxTokens ?? null,
    model: ask.model,
    output,
    parallel_tool_calls: ask.isParallel,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    service_tier: 'default',
    store: true,
    temperature: 1,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    truncation: 'disabled',
    usage: isFinal && script.values.get('usage') !== 'none' ? usageOf(answer.tokens) : null,
    metadata: {},
  };
}

interface Item {
  done: object;
  added: object;
  /** Events between the item's beginning and its end, without its place. */
  between: () => Generator<object>;
}

/** The items of an answer in their order, each as it is streamed. */
function itemsOf(context: AnswerContext): Item[] {
  const { id, answer, script } = context;
  const items: Item[] = [];
  if (answer.thinking !== undefined) {
    const item = `rs_sim${id}`;
    const base = { id: item, type: 'reasoning' };
    const text = answer.thinking;
    const summary = text === '' ? [] : [{ type: 'summary_text', text }];
    items.push({
      added: { ...base, summary: [] },
      done: { ...base, summary, encrypted_content: `sealed-${id}` },
      between: () => reasoningEvents(item, text, script),
    });
  }
  if (answer.calls.length === 0 || answer.text !== '') items.push(messageItem(context));
  for (const [at, call] of answer.calls.entries()) {
    const item = `fc_sim${id}_${at}`;
    const base = { id: item, type: 'function_call', call_id: `call_sim${id}_${at}`, name: call.name };
    const args = call.args === '' ? '{}' : call.args;
    items.push({
      added: { ...base, arguments: '', status: 'in_progress' },
      done: { ...base, arguments: args, status: 'completed' },
      between: () => callEvents(item, args, script),
    });
  }
  return items;
}

function messageItem({ id, answer, script }: AnswerContext): Item {
  const item = `msg_sim${id}`;
  const base = { id: item, type: 'message', role: 'assistant' };
  const part =
    answer.refusal === undefined
      ? { type: 'output_text', annotations: [], logprobs: [], text: answer.text }
      : { type: 'refusal', refusal: answer.refusal };
  return {
    added: { ...base, status: 'in_progress', content: [] },
    done: { ...base, status: 'completed', content: [part] },
    between: () => messageEvents(item, part, answer, script),
  };
}

function* reasoningEvents(item_id: string, text: string, script: Script): Generator<object> {
  if (text === '') return;
  const at = { item_id, summary_index: 0 };
  yield { type: 'response.reasoning_summary_part.added', ...at, part: { type: 'summary_text', text: '' } };
  for (const delta of piecesOf(text, script))
    yield { type: 'response.reasoning_summary_text.delta', ...at, delta };
  yield { type: 'response.reasoning_summary_text.done', ...at, text };
  yield { type: 'response.reasoning_summary_part.done', ...at, part: { type: 'summary_text', text } };
}

function* messageEvents(item_id: string, part: object, answer: Answer, script: Script): Generator<object> {
  const at = { item_id, content_index: 0 };
  const { refusal, text } = answer;
  const empty = refusal === undefined ? { ...part, text: '' } : { ...part, refusal: '' };
  yield { type: 'response.content_part.added', ...at, part: empty };
  if (isEndless(script))
    for (const delta of endlessPieces())
      yield { type: 'response.output_text.delta', ...at, delta, logprobs: [] };
  for (const delta of piecesOf(refusal ?? text, script))
    yield refusal === undefined
      ? { type: 'response.output_text.delta', ...at, delta, logprobs: [] }
      : { type: 'response.refusal.delta', ...at, delta };
  yield refusal === undefined
    ? { type: 'response.output_text.done', ...at, text, logprobs: [] }
    : { type: 'response.refusal.done', ...at, refusal };
  yield { type: 'response.content_part.done', ...at, part };
}

function* callEvents(item_id: string, args: string, script: Script): Generator<object> {
  for (const delta of fragmentsOf(args, script))
    yield { type: 'response.function_call_arguments.delta', item_id, delta };
  yield { type: 'response.function_call_arguments.done', item_id, arguments: args };
}

function outputOf(context: AnswerContext): object[] {
  return itemsOf(context).map(({ done }) => done);
}

function* events(context: AnswerContext): Generator<SimEvent> {
  let sequence_number = 0;
  const event = (object: object): SimEvent => ({
    name: textOf((object as JsonObject).type),
    data: JSON.stringify({ ...object, sequence_number: sequence_number++ }),
  });
  const response = responseOf(context, 'in_progress', []);
  yield event({ type: 'response.created', response });
  yield event({ type: 'response.in_progress', response });
  for (const [output_index, { added, between, done }] of itemsOf(context).entries()) {
    yield event({ type: 'response.output_item.added', output_index, item: added });
    for (const object of between()) yield event({ ...object, output_index });
    yield event({ type: 'response.output_item.done', output_index, item: done });
  }
  const type = incompleteReason(context.answer) === null ? 'response.completed' : 'response.incomplete';
  yield event({ type, response: responseOf(context, 'completed', outputOf(context)) });
  if (isOn(context.script, 'done')) yield { data: '[DONE]' };
}
