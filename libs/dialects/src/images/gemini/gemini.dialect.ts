import { filled, objectOf, objectsOf, textOf, type JsonObject } from '../../body/json-object.js';
import { badReply } from '../../translation/exchange.js';
import { Unsupported } from '../../translation/translation.js';
import { jsonBody, JSON_TYPE } from '../../translation/upstream-body.js';
import type { ImagesDialect } from '../images-dialect.js';
import { imagesUsage, shownUsage } from '../openai/usage.js';
import { base64In, base64Of } from '../picture.js';
import { given, objectIn, promptOf, ratioOf, sentCount } from '../requests.js';
import { moderated } from '../tasks.js';

const OPERATIONS = ['generate', 'edit', 'mix', 'reframe'];
/** Ends of an answer that its filters make. */
const FILTERED = /SAFETY|PROHIBITED|BLOCKLIST|RECITATION|SPII/;

/** Gemini's image models: an image is a part of an answer. One each, and no mask. */
export const dialect: ImagesDialect = {
  name: 'gemini',
  takes: ['size', 'aspect_ratio', 'resolution'],
  unsupported: ({ operation, n }) => {
    if (!OPERATIONS.includes(operation)) return new Unsupported(null);
    return n > 1 ? new Unsupported('n') : null;
  },
  run: async (request, { target, calls, facts }) => {
    const { images, references, options } = request;
    const parts = [...images, ...references].map((picture) => ({
      inlineData: { mimeType: picture.mediaType, data: base64Of(picture) },
    }));
    const imageConfig = given({ aspectRatio: ratioOf(request), imageSize: options.resolution });
    const body = {
      contents: [{ role: 'user', parts: [...parts, { text: promptOf(request) }] }],
      generationConfig: {
        responseModalities: ['TEXT', 'IMAGE'],
        ...(Object.keys(imageConfig).length > 0 && { imageConfig }),
      },
    };
    const path = `/models/${target.upstreamModel}:generateContent`;
    const answer = objectIn(await calls.send(jsonBody(path, JSON_TYPE, body)));
    const { data, text } = pictureIn(answer);
    const counts = countsOf(objectOf(answer.usageMetadata));
    const { usage, deliveredBytes } = imagesUsage(counts, 1);
    const sent = sentCount(request);
    return {
      images: [{ picture: { base64: data }, members: given({ revised_prompt: filled(text) }) }],
      members: { usage: shownUsage(counts, facts.believed(usage)) },
      usage: { ...usage, ...(sent > 0 && { input_images: sent }) },
      deliveredBytes,
      context: request.context,
    };
  },
};

/** The last image: models that think show drafts before it. */
function pictureIn({ candidates, promptFeedback }: JsonObject): { data: string; text: string } {
  const [{ content, finishReason, finishMessage } = {} as JsonObject] = objectsOf(candidates);
  const parts = objectsOf(objectOf(content).parts).filter(({ thought }) => thought !== true);
  const data = parts
    .map(({ inlineData }) => base64In(objectOf(inlineData).data))
    .findLast((one) => one !== null);
  if (data) return { data, text: parts.map(({ text }) => textOf(text)).join('') };
  const reason = textOf(objectOf(promptFeedback).blockReason) || textOf(finishReason);
  if (FILTERED.test(reason)) throw moderated(textOf(finishMessage));
  throw badReply('the answer holds no image.');
}

/** Gemini's counts in OpenAI's words. Thoughts are output. */
function countsOf(metadata: JsonObject): JsonObject | undefined {
  const { promptTokenCount, candidatesTokenCount, thoughtsTokenCount, cachedContentTokenCount } = metadata;
  if (typeof promptTokenCount !== 'number') return undefined;
  const thoughts = typeof thoughtsTokenCount === 'number' ? thoughtsTokenCount : 0;
  const output = typeof candidatesTokenCount === 'number' ? candidatesTokenCount + thoughts : undefined;
  return {
    input_tokens: promptTokenCount,
    input_tokens_details: given({
      image_tokens: imageTokens(metadata.promptTokensDetails),
      cached_tokens: cachedContentTokenCount,
    }),
    output_tokens: output,
    output_tokens_details: given({
      image_tokens: imageTokens(metadata.candidatesTokensDetails),
      text_tokens: thoughts,
    }),
  };
}

function imageTokens(details: unknown): number | null {
  const image = objectsOf(details).find(({ modality }) => modality === 'IMAGE');
  return typeof image?.tokenCount === 'number' ? image.tokenCount : null;
}
