import {
  endlessPieces,
  fragmentsOf,
  isEndless,
  piecesOf,
  type Answer,
  type Ask,
  type Tokens,
} from './answer.js';
import { checkChat } from './check-chat.js';
import { type AnswerContext, type SimDialect, type SimEvent } from './dialect.js';
import { OPENAI_ERRORS, openAiError } from './errors-openai.js';
import { isObject, objectOf, objectsOf, textOf, type Json, type JsonObject } from './json.js';
import { isOn, oneOf, type Script } from './script.js';

/** OpenAI chat completions. */
export const chatDialect: SimDialect = {
  errors: OPENAI_ERRORS,
  checkHeaders: (headers) => {
    const key = /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1] ?? headers['api-key'];
    if (key === undefined) {
      return openAiError(401, 'invalid_request_error', null, "You didn't provide an API key.");
    }
    return key.includes('invalid') ? OPENAI_ERRORS.get('401-key') : undefined;
  },
  check: (body, _headers, script) => checkChat(body, script),
  refuse: (status, message) => openAiError(status, 'invalid_request_error', null, message),
  readAsk,
  plain,
  events,
  errorEvent: (error) => ({ data: JSON.stringify(error.body) }),
  keepAlive: ': SIMULATOR PROCESSING\n\n',
};

function readAsk(body: JsonObject, script: Script): Ask {
  const messages = objectsOf(body.messages);
  const lastUser = messages.findLast((message) => message.role === 'user');
  const results: string[] = [];
  for (let at = messages.length - 1; at >= 0 && messages[at].role === 'tool'; at -= 1) {
    results.unshift(textsOf(messages[at].content));
  }
  const limit = body.max_completion_tokens ?? body.max_tokens;
  return {
    model: textOf(body.model),
    isStream: body.stream === true,
    lastUserText: textsOf(lastUser?.content),
    toolResults: results,
    tools: objectsOf(body.tools).map((tool) => ({
      name: textOf(objectOf(tool.function ?? tool.custom).name),
      schema: objectOf(tool.function).parameters,
    })),
    toolChoice: readChoice(body.tool_choice),
    isParallel: body.parallel_tool_calls !== false,
    outputSchema: readFormat(objectOf(body.response_format)),
    isThinking: script.words.has('reasoning') || script.words.has('thinking'),
    maxTokens: typeof limit === 'number' ? limit : undefined,
    promptBytes: messages.reduce((sum, message) => sum + Buffer.byteLength(textsOf(message.content)), 0),
    choices: typeof body.n === 'number' ? Math.min(Math.max(1, body.n), 128) : 1,
    includeUsage: objectOf(body.stream_options).include_usage === true,
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
  const mode = objectOf(choice.allowed_tools).mode;
  if (mode !== undefined) return mode === 'required' ? 'required' : 'auto';
  return { name: textOf(objectOf(choice.function ?? choice.custom).name) };
}

function readFormat(format: JsonObject): Ask['outputSchema'] {
  if (format.type === 'json_object') return 'object';
  return format.type === 'json_schema' ? (objectOf(format.json_schema).schema ?? 'object') : undefined;
}

function finishOf(answer: Answer): string {
  if (typeof answer.finish === 'object') return answer.finish.native;
  if (answer.calls.length > 0) return 'tool_calls';
  return answer.finish === 'length' ? 'length' : 'stop';
}

function usageOf(tokens: Tokens): object {
  return {
    prompt_tokens: tokens.prompt,
    completion_tokens: tokens.completion,
    total_tokens: tokens.prompt + tokens.completion,
    prompt_tokens_details: {
      cached_tokens: tokens.cached,
      ...(tokens.cacheWrite > 0 ? { cache_write_tokens: tokens.cacheWrite } : {}),
      audio_tokens: 0,
    },
    completion_tokens_details: {
      reasoning_tokens: tokens.reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

function plain({ id, createdAt, ask, answer, script }: AnswerContext): object {
  const message = {
    role: 'assistant',
    content:
      answer.text === '' && (answer.calls.length > 0 || answer.refusal !== undefined) ? null : answer.text,
    refusal: answer.refusal ?? null,
    annotations: [],
    ...(answer.thinking === undefined ? {} : { reasoning_content: answer.thinking }),
    ...(answer.calls.length === 0
      ? {}
      : { tool_calls: answer.calls.map((call, index) => toolCall(id, call.name, call.args, index)) }),
  };
  const finish = finishOf(answer);
  return {
    id: `chatcmpl-sim${id}`,
    object: 'chat.completion',
    created: createdAt,
    model: ask.model,
    choices: Array.from({ length: ask.choices }, (_, index) => ({
      index,
      message,
      logprobs: null,
      finish_reason: finish,
    })),
    ...(script.values.get('usage') === 'none' ? {} : { usage: usageOf(answer.tokens) }),
    service_tier: 'default',
    system_fingerprint: 'fp_sim',
  };
}

function toolCall(id: string, name: string, args: string, index: number): object {
  return { id: `call_sim${id}_${index}`, type: 'function', function: { name, arguments: args } };
}

/** Deltas of one choice, its finish included. */
function* deltas({ id, answer, script }: AnswerContext): Generator<[delta: object, finish: string | null]> {
  yield [{ role: 'assistant', content: '', refusal: null }, null];
  for (const piece of piecesOf(answer.thinking ?? '', script)) yield [{ reasoning_content: piece }, null];
  for (const piece of piecesOf(answer.text, script)) yield [{ content: piece }, null];
  for (const piece of piecesOf(answer.refusal ?? '', script)) yield [{ refusal: piece }, null];
  for (const [index, call] of answer.calls.entries()) {
    yield [{ tool_calls: [{ index, ...toolCall(id, call.name, '', index) }] }, null];
    for (const fragment of fragmentsOf(call.args, script)) {
      yield [{ tool_calls: [{ index, function: { arguments: fragment } }] }, null];
    }
  }
  if (isEndless(script)) for (const piece of endlessPieces()) yield [{ content: piece }, null];
  yield [{}, finishOf(answer)];
}

function* events(context: AnswerContext): Generator<SimEvent> {
  const { id, createdAt, ask, answer, script } = context;
  const where = oneOf(script, 'usage', ['asked', 'always', 'none', 'twice', 'finish']);
  const base = {
    id: `chatcmpl-sim${id}`,
    object: 'chat.completion.chunk',
    created: createdAt,
    model: ask.model,
    service_tier: 'default',
    system_fingerprint: 'fp_sim',
  };
  const empty = ask.includeUsage ? { usage: null } : {};
  const usage = usageOf(answer.tokens);
  for (let index = 0; index < ask.choices; index += 1) {
    for (const [delta, finish] of deltas(context)) {
      const choices = [{ index, delta, logprobs: null, finish_reason: finish }];
      const isEarlyUsage = finish !== null && (where === 'twice' || where === 'finish');
      yield { data: JSON.stringify({ ...base, choices, ...(isEarlyUsage ? { usage } : empty) }) };
    }
  }
  if (where === 'always' || where === 'twice' || (where === 'asked' && ask.includeUsage)) {
    yield { data: JSON.stringify({ ...base, choices: [], usage }) };
  }
  if (!script.values.has('done') || isOn(script, 'done')) yield { data: '[DONE]' };
}
