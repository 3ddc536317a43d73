import type { Json } from '../facts/answer-facts.js';
import type { FrontName } from '../facts/read.js';
import type { Asked, AskedTurn } from './asked.js';

/** Bound above any recording's. */
const MAX_TOKENS = 16_000;

function chatMessage({ role, text, images, calls, callId }: AskedTurn): Json {
  if (role === 'tool') return { role, tool_call_id: callId, content: text };
  const content =
    images.length === 0
      ? text
      : [
          { type: 'text', text },
          ...images.map(({ mediaType, data }) => ({
            type: 'image_url',
            image_url: { url: `data:${mediaType};base64,${data}` },
          })),
        ];
  const toolCalls = calls.map(({ id, name, arguments: input }) => ({
    id,
    type: 'function',
    function: { name, arguments: input },
  }));
  return { role, content, ...(calls.length > 0 && { tool_calls: toolCalls }) };
}

function toChat({ turns, tools, stream }: Asked): Json {
  return {
    messages: turns.map(chatMessage),
    stream,
    ...(tools.length > 0 && { tools: tools.map((called) => ({ type: 'function', function: called })) }),
  };
}

function messagesMessage({ role, text, images, calls, callId }: AskedTurn): Json {
  if (role === 'tool')
    return { role: 'user', content: [{ type: 'tool_result', tool_use_id: callId, content: text }] };
  return {
    role,
    content: [
      ...(text.trim() === '' ? [] : [{ type: 'text', text }]),
      ...images.map(({ mediaType, data }) => ({
        type: 'image',
        source: { type: 'base64', media_type: mediaType, data },
      })),
      ...calls.map(({ id, name, arguments: input }) => ({
        type: 'tool_use',
        id: id.replace(/[^a-zA-Z0-9_-]/g, '_') || 'call',
        name,
        input: JSON.parse(input) as unknown,
      })),
    ],
  };
}

function toMessages({ turns, tools, stream }: Asked): Json {
  const system = turns.filter(({ role }) => role === 'system').map(({ text }) => text);
  return {
    max_tokens: MAX_TOKENS,
    stream,
    ...(system.length > 0 && { system: system.join('\n') }),
    messages: turns
      .filter(({ role }) => role !== 'system')
      .map(messagesMessage)
      .map((message) => ((message.content as unknown[]).length > 0 ? message : { ...message, content: '…' })),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, parameters }) => ({
        name,
        description,
        input_schema: { type: 'object', ...parameters },
      })),
    }),
  };
}

function responsesItems({ role, text, images, calls, callId }: AskedTurn): Json[] {
  if (role === 'tool') return [{ type: 'function_call_output', call_id: callId, output: text }];
  const words = role === 'assistant' ? 'output_text' : 'input_text';
  const content = [
    ...(text === '' ? [] : [{ type: words, text }]),
    ...images.map(({ mediaType, data }) => ({
      type: 'input_image',
      image_url: `data:${mediaType};base64,${data}`,
    })),
  ];
  return [
    ...(content.length === 0 ? [] : [{ type: 'message', role, content }]),
    ...calls.map(({ id, name, arguments: input }) => ({
      type: 'function_call',
      call_id: id,
      name,
      arguments: input,
    })),
  ];
}

function toResponses({ turns, tools, stream }: Asked): Json {
  return {
    input: turns.flatMap(responsesItems),
    stream,
    store: false,
    ...(tools.length > 0 && { tools: tools.map((called) => ({ type: 'function', ...called })) }),
  };
}

const WRITERS: Record<FrontName, (asked: Asked) => Json> = {
  chat: toChat,
  messages: toMessages,
  responses: toResponses,
};

/** The same request in a caller's format, without its model. */
export function writeRequest(front: FrontName, asked: Asked): Json {
  return WRITERS[front](asked);
}
