import { objectsOf, textOf, type JsonObject } from '../../body/json-object.js';

const DATA_URL = /^data:(image\/[\w.+-]{1,40});base64,/;

/** A message as a turn of the provider's; null where a part of it has no word there. */
export function contentOf({ role, content }: JsonObject, audioType: string): JsonObject | null {
  const parts = objectsOf(content).map((part) => partOf(part, audioType));
  if (parts.length === 0 || parts.includes(null)) return null;
  return { role: role === 'assistant' ? 'model' : 'user', parts };
}

function partOf(part: JsonObject, audioType: string): JsonObject | null {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return { text: textOf(part.text) };
    case 'input_audio':
      return { inlineData: { mimeType: audioType, data: textOf(part.audio) } };
    case 'input_image': {
      const url = textOf(part.image_url);
      const mimeType = DATA_URL.exec(url)?.[1];
      return mimeType === undefined
        ? null
        : { inlineData: { mimeType, data: url.slice(url.indexOf(',') + 1) } };
    }
    default:
      return null;
  }
}
