// Words of the JSON schemas here, and the schema of one message (wire-formats 1.2).

export const nullable = (type: string, more: object = {}): object => ({ type: [type, 'null'], ...more });
export const oneOf = (...values: string[]): object => ({ type: 'string', enum: values });
export const nullableEnum = (...values: string[]): object => ({
  type: ['string', 'null'],
  enum: [...values, null],
});
export const text = { type: 'string' };
export const object = { type: 'object' };

/** Members that a tag decides on: the fault names the tag, or the member of the right branch. */
export function tagged(
  tag: string,
  branches: Record<string, { required?: string[]; properties?: object }>,
): object {
  return {
    type: 'object',
    required: [tag],
    discriminator: { propertyName: tag },
    oneOf: Object.entries(branches).map(([value, { required = [], properties = {} }]) => ({
      required: [tag, ...required],
      properties: { [tag]: { const: value }, ...properties },
    })),
  };
}

const TEXT_PART = { required: ['text'], properties: { text } };
export const textParts = { type: 'array', items: tagged('type', { text: TEXT_PART }) };
const userParts = {
  type: 'array',
  items: tagged('type', {
    text: TEXT_PART,
    image_url: {
      required: ['image_url'],
      properties: {
        image_url: {
          type: 'object',
          required: ['url'],
          properties: { url: text, detail: nullableEnum('auto', 'low', 'high', 'original') },
        },
      },
    },
    input_audio: {
      required: ['input_audio'],
      properties: {
        input_audio: {
          type: 'object',
          required: ['data', 'format'],
          properties: { data: text, format: oneOf('wav', 'mp3') },
        },
      },
    },
    file: {
      required: ['file'],
      properties: {
        file: { type: 'object', properties: { file_data: text, file_id: text, filename: text } },
      },
    },
    video_url: {
      required: ['video_url'],
      properties: { video_url: { type: 'object', required: ['url'], properties: { url: text } } },
    },
  }),
};
const assistantParts = {
  type: 'array',
  items: tagged('type', {
    text: TEXT_PART,
    refusal: { required: ['refusal'], properties: { refusal: text } },
  }),
};
export const content = (parts: { items: object }, ...more: string[]): object => ({
  type: ['string', 'array', ...more],
  items: parts.items,
});
const toolCall = tagged('type', {
  function: {
    required: ['id', 'function'],
    properties: {
      id: text,
      function: {
        type: 'object',
        required: ['name', 'arguments'],
        properties: { name: text, arguments: text },
      },
    },
  },
  custom: {
    required: ['id', 'custom'],
    properties: {
      id: text,
      custom: { type: 'object', required: ['name', 'input'], properties: { name: text, input: text } },
    },
  },
});
const instructions = { required: ['content'], properties: { content: content(textParts) } };

export const message = tagged('role', {
  system: instructions,
  developer: instructions,
  user: { required: ['content'], properties: { content: content(userParts), name: nullable('string') } },
  assistant: {
    properties: {
      content: content(assistantParts, 'null'),
      refusal: nullable('string'),
      name: nullable('string'),
      tool_calls: { type: ['array', 'null'], items: toolCall, maxItems: 1_024 },
      audio: nullable('object'),
      reasoning: nullable('string'),
      reasoning_content: nullable('string'),
      reasoning_details: { type: ['array', 'null'], items: object },
    },
  },
  tool: {
    required: ['content', 'tool_call_id'],
    properties: { content: content(textParts), tool_call_id: text },
  },
});
