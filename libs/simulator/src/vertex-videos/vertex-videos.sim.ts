import { json } from '../batches/spoken-turns.js';
import type { NativeError } from '../error-table.js';
import { objectOf, objectsOf, textOf } from '../json.js';
import type { SimEndpoint } from '../sim-endpoint.js';
import { emptyMp4 } from '../video-content/empty-mp4.js';

const SECONDS = 8;

/** Google's Veo on Vertex AI: an operation that has ended by its first look, and holds as many seconds as were asked for. */
export const simulated: readonly SimEndpoint[] = [
  {
    path: ':predictLongRunning',
    answer: ({ path, json: body = {}, id }) => {
      const [instance = {}] = objectsOf(body.instances);
      if (textOf(instance.prompt) === '' && instance.image === undefined)
        return failure(400, 'INVALID_ARGUMENT', 'Text prompt or image is missing.');
      const { durationSeconds } = objectOf(body.parameters);
      const seconds = typeof durationSeconds === 'number' ? durationSeconds : SECONDS;
      return json({ name: `${placeOf(path)}/operations/video-${id}-${seconds}` });
    },
  },
  {
    path: ':fetchPredictOperation',
    answer: ({ path, json: body = {} }) => {
      const name = textOf(body.operationName);
      const seconds = /\/operations\/video-\w+-(\d+)$/.exec(name)?.[1];
      if (seconds === undefined || !name.startsWith(`${placeOf(path)}/`))
        return failure(404, 'NOT_FOUND', 'The operation is not found.');
      const bytesBase64Encoded = emptyMp4(Number(seconds)).toString('base64');
      const videos = [{ bytesBase64Encoded, mimeType: 'video/mp4' }];
      return json({ name, done: true, response: { raiMediaFilteredCount: 0, videos } });
    },
  },
];

/** The model's place: an address without a project is one of the simulated project. */
function placeOf(path: string): string {
  const [, project = 'projects/simulated/locations/global', model = ''] =
    /\/v1\/(projects\/[^/]+\/locations\/[^/]+)?\/?publishers\/google\/models\/([^/:]+):/.exec(path) ?? [];
  return `${project}/publishers/google/models/${model}`;
}

function failure(status: number, code: string, message: string): NativeError {
  return { status, headers: {}, body: { error: { code: status, status: code, message } } };
}
