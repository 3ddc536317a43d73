import { objectOf, objectsOf, textOf, type JsonObject } from '../../body/json-object.js';
import { badReply } from '../../translation/exchange.js';
import { Unsupported } from '../../translation/translation.js';
import { jsonBody, JSON_TYPE } from '../../translation/upstream-body.js';
import type { VideoDialect, VideoItem, VideoRequest, VideoState } from '../video-dialect.js';
import { answerIn, failedState, given, inlineOf, itemsOf, ratioOf } from '../video-parts.js';

const OPERATION =
  /^(projects\/\w[\w.:-]{0,99}\/locations\/[a-z][a-z0-9-]{0,39}\/publishers\/google\/models\/\w[\w.-]{0,99})\/operations\/(\w[\w.-]{0,99})$/;
const MP4 = 'video/mp4';

/**
 * Veo by Vertex AI: a long-running operation of the credential's project, whose last answer holds the video itself, because
 * no bucket is named. Pictures and videos are sent, never named: an address would be one of Google's buckets.
 */
export const dialect: VideoDialect = {
  name: 'vertex-veo',
  roles: ['first_frame', 'last_frame', 'reference_image', 'source_video'],
  takes: ['seed', 'negative_prompt', 'person_generation', 'generate_audio'],
  pollMs: 10_000,
  unsupported: ({ items }) => {
    const named = items.find((item) => inlineOf(item) === null);
    if (named === undefined) return null;
    return new Unsupported(
      `content.${named.position}.${named.role === 'source_video' ? 'video' : 'image'}_url`,
    );
  },
  create: (request, { upstreamModel }) => {
    const { prompt, duration, resolution, options } = request;
    const parameters = given({
      sampleCount: 1,
      aspectRatio: ratioOf(request),
      durationSeconds: duration,
      resolution,
      // Sound has a price of its own: never left to the model.
      generateAudio: options.generate_audio ?? true,
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
    // A task may come from a table: only an operation's model, in its own project and location, is a path.
    const [, model] = OPERATION.exec(task) ?? [];
    if (model === undefined) throw badReply('the task is no operation.');
    return jsonBody(`/${model}:fetchPredictOperation`, JSON_TYPE, { operationName: task });
  },
  read: (reply, task) => {
    const { name, done, error, response } = answerIn(reply);
    // Its project may be a number here and a name there.
    if (OPERATION.exec(textOf(name))?.[2] !== OPERATION.exec(task)?.[2])
      throw badReply('the answer is of another operation.');
    if (done !== true) return { status: 'running' };
    const { message, status } = objectOf(error);
    if (error !== undefined && error !== null) return failedState(textOf(message), textOf(status));
    return endOf(objectOf(response));
  },
};

/** A video, or why it was filtered. Throws ExchangeFailure where there is neither. */
function endOf({ videos, raiMediaFilteredCount, raiMediaFilteredReasons }: JsonObject): VideoState {
  const [video] = objectsOf(videos);
  if (video !== undefined) return { status: 'done', seconds: null, result: { bytes: bytesOf(video) } };
  const reasons: unknown[] = Array.isArray(raiMediaFilteredReasons) ? raiMediaFilteredReasons : [];
  if (reasons.length === 0 && !(Number(raiMediaFilteredCount) > 0))
    throw badReply('the answer holds no video.');
  return { status: 'failed', isRefused: true, message: textOf(reasons[0]) || 'The video was filtered.' };
}

function bytesOf({ bytesBase64Encoded, gcsUri, mimeType = MP4 }: JsonObject): Uint8Array {
  if (textOf(gcsUri) !== '') throw badReply('the video is in a bucket, which is not read.');
  if (mimeType !== MP4) throw badReply('the video is no mp4.');
  const bytes = Buffer.from(textOf(bytesBase64Encoded), 'base64');
  if (bytes.byteLength === 0) throw badReply('the answer holds no video.');
  return bytes;
}

function mediaOf(request: VideoRequest): JsonObject {
  const [first] = itemsOf(request, 'first_frame');
  const [last] = itemsOf(request, 'last_frame');
  const [video] = itemsOf(request, 'source_video');
  const references = itemsOf(request, 'reference_image');
  return {
    ...(first && { image: mediumOf(first) }),
    ...(last && { lastFrame: mediumOf(last) }),
    ...(video && { video: mediumOf(video) }),
    ...(references.length > 0 && {
      referenceImages: references.map((item) => ({ image: mediumOf(item), referenceType: 'asset' })),
    }),
  };
}

function mediumOf(item: VideoItem): JsonObject {
  const { mimeType, data } = inlineOf(item) ?? { mimeType: '', data: '' };
  return { bytesBase64Encoded: data, mimeType };
}
