import { objectOf, objectsOf, textOf, type JsonObject } from '../../body/json-object.js';
import { badReply } from '../../translation/exchange.js';
import { Misfit } from '../../translation/translation.js';
import { jsonBody, JSON_TYPE, lookAt } from '../../translation/upstream-body.js';
import { getBody } from '../get-body.js';
import type { VideoDialect, VideoItem, VideoRequest } from '../video-dialect.js';
import { answerIn, failedState, given, inlineOf, itemsOf, ratioOf } from '../video-parts.js';

const OPERATION = /^models\/[\w.-]{1,100}\/operations\/[\w.-]{1,100}$/;

/** Veo by the Gemini API: a long-running operation, whose file is fetched with the key. Pictures are sent, never named. */
export const dialect: VideoDialect = {
  name: 'veo',
  roles: ['first_frame', 'last_frame', 'reference_image', 'source_video'],
  takes: ['seed', 'negative_prompt', 'person_generation'],
  pollMs: 10_000,
  misfit: ({ items }) => {
    const named = items.find((item) => item.role !== 'source_video' && inlineOf(item) === null);
    return named === undefined ? null : new Misfit(`content.${named.position}.image_url`);
  },
  create: (request, { upstreamModel }) => {
    const { prompt, duration, resolution, options } = request;
    const parameters = given({
      aspectRatio: ratioOf(request),
      durationSeconds: duration,
      resolution,
      negativePrompt: options.negative_prompt,
      personGeneration: options.person_generation,
      seed: options.seed,
    });
    const instance = { ...(prompt !== '' && { prompt }), ...mediaOf(request) };
    return jsonBody(`/models/${upstreamModel}:predictLongRunning`, JSON_TYPE, {
      instances: [instance],
      parameters,
    });
  },
  begun: (reply) => {
    const name = textOf(answerIn(reply).name);
    if (!OPERATION.test(name)) throw badReply('the answer names no operation.');
    return name;
  },
  poll: (task) => {
    // A task may come from a table: only an operation is a path.
    if (!OPERATION.test(task)) throw badReply('the task is no operation.');
    return getBody(`/${task}`);
  },
  read: (reply) => {
    const { name, done, error, response } = answerIn(reply);
    if (done !== true) {
      if (textOf(name) === '') throw badReply('the answer names no operation.');
      return { status: 'running' };
    }
    const { message, status } = objectOf(error);
    if (error !== undefined && error !== null) return failedState(textOf(message), textOf(status));
    const made = objectOf(objectOf(response).generateVideoResponse);
    const [{ video } = {} as JsonObject] = objectsOf(made.generatedSamples);
    const uri = textOf(objectOf(video).uri);
    if (uri !== '')
      return { status: 'done', seconds: null, result: { call: { ...lookAt(uri), mayMove: true } } };
    const reasons: unknown[] = Array.isArray(made.raiMediaFilteredReasons)
      ? made.raiMediaFilteredReasons
      : [];
    if (reasons.length === 0) throw badReply('the answer holds no video.');
    return { status: 'failed', isRefused: true, message: textOf(reasons[0]) || 'The video was filtered.' };
  },
};

function mediaOf(request: VideoRequest): JsonObject {
  const [first] = itemsOf(request, 'first_frame');
  const [last] = itemsOf(request, 'last_frame');
  const [video] = itemsOf(request, 'source_video');
  const references = itemsOf(request, 'reference_image');
  return {
    ...(first && { image: imageOf(first) }),
    ...(last && { lastFrame: imageOf(last) }),
    ...(video && { video: videoOf(video) }),
    ...(references.length > 0 && {
      referenceImages: references.map((item) => ({ image: imageOf(item), referenceType: 'asset' })),
    }),
  };
}

function imageOf(item: VideoItem): JsonObject {
  const { mimeType, data } = inlineOf(item) ?? { mimeType: '', data: '' };
  return { bytesBase64Encoded: data, mimeType };
}

/** One that Veo made, by its address, or the bytes of one. */
function videoOf(item: VideoItem): JsonObject {
  const inline = inlineOf(item);
  return inline === null ? { uri: item.url } : { encodedVideo: inline.data, encoding: inline.mimeType };
}
