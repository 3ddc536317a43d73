import { list, object, text, type Json } from '../facts/answer-facts.js';
import type { TextFormat } from '../facts/read.js';
import { contentWords, schemaOf, turn, type Asked, type AskedTurn } from './asked.js';

function functionTool({ name, description, parameters }: Json): Asked['tools'][number] {
  return { name: text(name), description: text(description), parameters: schemaOf(parameters) };
}

function chatTurn(message: Json): AskedTurn {
  const words = contentWords(message.content);
  if (message.role === 'tool') return turn('tool', { text: words, callId: text(message.tool_call_id) });
  const calls = list(message.tool_calls).map((call) => {
    const called = object(object(call).function);
    return {
      id: text(object(call).id),
      name: text(called.name),
      arguments: text(called.arguments) || '{}',
    };
  });
  const role = message.role === 'assistant' || message.role === 'user' ? message.role : 'system';
  return turn(role, { text: words, calls });
}

/** Cohere's requests are written as chat's are. */
function fromChat(body: Json): Asked {
  return {
    turns: list(body.messages).map((message) => chatTurn(object(message))),
    tools: list(body.tools)
      .map((tool) => object(object(tool).function))
      .filter((called) => text(called.name) !== '')
      .map(functionTool),
    stream: body.stream === true,
  };
}

function messagesTurns(message: Json): AskedTurn[] {
  if (typeof message.content === 'string')
    return [turn(message.role === 'assistant' ? 'assistant' : 'user', { text: message.content })];
  const blocks = list(message.content).map(object);
  const results = blocks
    .filter(({ type }) => type === 'tool_result')
    .map((block) =>
      turn('tool', { text: contentWords(block.content) || 'done', callId: text(block.tool_use_id) }),
    );
  const calls = blocks
    .filter(({ type }) => type === 'tool_use')
    .map(({ id, name, input }) => ({ id: text(id), name: text(name), arguments: JSON.stringify(input) }));
  const rest = blocks.filter(({ type }) => type !== 'tool_result' && type !== 'tool_use');
  const words = contentWords(rest);
  const said = turn(message.role === 'assistant' ? 'assistant' : 'user', { text: words, calls });
  return rest.length > 0 || calls.length > 0 ? [...results, said] : results;
}

function fromMessages(body: Json): Asked {
  const system = contentWords(body.system ?? []);
  return {
    turns: [
      ...(system === '' ? [] : [turn('system', { text: system })]),
      ...list(body.messages).flatMap((message) => messagesTurns(object(message))),
    ],
    tools: list(body.tools)
      .map(object)
      .filter(({ input_schema: schema }) => schema !== undefined)
      .map(({ name, description, input_schema }) =>
        functionTool({ name, description, parameters: input_schema }),
      ),
    stream: body.stream === true,
  };
}

function responsesTurn(item: Json): AskedTurn[] {
  const id = text(item.call_id);
  if (item.type === 'function_call')
    return [
      turn('assistant', {
        calls: [{ id, name: text(item.name), arguments: text(item.arguments) || '{}' }],
      }),
    ];
  if (item.type === 'function_call_output')
    return [turn('tool', { text: contentWords(item.output) || 'done', callId: id })];
  if (item.role === undefined) return [];
  const role = item.role === 'assistant' || item.role === 'user' ? item.role : 'system';
  return [turn(role, { text: contentWords(item.content) })];
}

function fromResponses(body: Json): Asked {
  const instructions = text(body.instructions);
  const input =
    typeof body.input === 'string'
      ? [turn('user', { text: body.input })]
      : list(body.input).flatMap((item) => responsesTurn(object(item)));
  return {
    turns: [...(instructions === '' ? [] : [turn('system', { text: instructions })]), ...input],
    tools: list(body.tools)
      .map(object)
      .filter(({ type }) => type === 'function')
      .map(functionTool),
    stream: body.stream === true,
  };
}

function geminiTurns(content: Json, at: number): AskedTurn[] {
  const parts = list(content.parts).map(object);
  const called = (part: Json): Json => object(part.functionCall ?? part.function_call);
  const answered = (part: Json): Json => object(part.functionResponse ?? part.function_response);
  // Google pairs calls with results by name where it gives no id.
  const idOf = ({ id, name }: Json): string => text(id) || `call_${text(name)}`;
  const results = parts
    .filter((part) => Object.keys(answered(part)).length > 0)
    .map((part) =>
      turn('tool', {
        text: JSON.stringify(answered(part).response),
        callId: idOf(answered(part)),
      }),
    );
  const calls = parts
    .map(called)
    .filter(({ name }) => text(name) !== '')
    .map((call) => ({
      id: idOf(call),
      name: text(call.name),
      arguments: JSON.stringify(call.args ?? {}),
    }));
  const images = parts
    .map((part) => object(part.inlineData ?? part.inline_data))
    .filter((inline) => /^image\//.test(text(inline.mimeType ?? inline.mime_type)))
    .map((inline) => ({ mediaType: text(inline.mimeType ?? inline.mime_type), data: text(inline.data) }));
  const rest = parts.filter(
    (part) => Object.keys(answered(part)).length === 0 && Object.keys(called(part)).length === 0,
  );
  if (rest.length === 0 && calls.length === 0) return results;
  const role = content.role === 'model' ? 'assistant' : 'user';
  return [...results, turn(role, { text: contentWords(rest) || `[turn ${at}]`, calls, images })];
}

function fromGemini(sent: Json, path: string): Asked {
  // A count wraps what it counts.
  const body = sent.generateContentRequest === undefined ? sent : object(sent.generateContentRequest);
  const system = contentWords(object(body.systemInstruction).parts ?? []);
  return {
    turns: [
      ...(system === '' ? [] : [turn('system', { text: system })]),
      ...list(body.contents).flatMap((content, at) => geminiTurns(object(content), at)),
    ],
    tools: list(body.tools)
      .flatMap((tool) => list(object(tool).functionDeclarations))
      .map(object)
      .map((declared) =>
        functionTool({
          ...declared,
          parameters: declared.parametersJsonSchema ?? declared.parameters_json_schema ?? declared.parameters,
        }),
      ),
    stream: path.includes(':streamGenerateContent'),
  };
}

function converseTurns(message: Json): AskedTurn[] {
  const blocks = list(message.content).map(object);
  const results = blocks
    .filter(({ toolResult }) => toolResult !== undefined)
    .map(({ toolResult }) =>
      turn('tool', {
        text: contentWords(object(toolResult).content) || 'done',
        callId: text(object(toolResult).toolUseId),
      }),
    );
  const calls = blocks
    .filter(({ toolUse }) => toolUse !== undefined)
    .map(({ toolUse }) => ({
      id: text(object(toolUse).toolUseId),
      name: text(object(toolUse).name),
      arguments: JSON.stringify(object(toolUse).input ?? {}),
    }));
  const images = blocks
    .map(({ image }) => object(image))
    .filter(({ source }) => text(object(source).bytes) !== '')
    .map(({ format, source }) => ({
      mediaType: `image/${text(format)}`,
      data: text(object(source).bytes),
    }));
  const rest = blocks.filter(({ toolUse, toolResult }) => toolUse === undefined && toolResult === undefined);
  if (rest.length === 0 && calls.length === 0) return results;
  const role = message.role === 'assistant' ? 'assistant' : 'user';
  return [...results, turn(role, { text: contentWords(rest), calls, images })];
}

function fromConverse(body: Json, path: string): Asked {
  const system = contentWords(body.system ?? []);
  return {
    turns: [
      ...(system === '' ? [] : [turn('system', { text: system })]),
      ...list(body.messages).flatMap((message) => converseTurns(object(message))),
    ],
    tools: list(object(body.toolConfig).tools)
      .map((tool) => object(object(tool).toolSpec))
      .filter(({ name }) => text(name) !== '')
      .map((spec) => functionTool({ ...spec, parameters: object(spec.inputSchema).json })),
    stream: path.endsWith('/converse-stream'),
  };
}

const READERS: Record<TextFormat, (body: Json, path: string) => Asked> = {
  chat: fromChat,
  cohere: fromChat,
  messages: fromMessages,
  responses: fromResponses,
  gemini: fromGemini,
  converse: fromConverse,
};

/** Returns the content of a recorded request of a format. */
export function readRequest(format: TextFormat, body: Json, path: string): Asked {
  return READERS[format](body, path);
}
