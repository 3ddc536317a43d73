import { spliceMembers } from '@gateway/json-body';
import type { UpstreamBody } from '../../translation/upstream-body.js';
import { objectOf, without } from '../../body/json-object.js';
import { parseUpstreamObject } from '../../body/upstream-json.js';
import { badReply } from '../../translation/exchange.js';
import { withoutMoney } from '../../translation/money-names.js';
import { withoutServer } from '../../body/server-names.js';
import { Unsupported, type AnswerFacts } from '../../translation/translation.js';
import { JSON_TYPE } from '../../translation/upstream-body.js';
import {
  imagesContext,
  type ImagesDialect,
  type ImagesRequest,
  type ImagesUpstream,
  type MadeImages,
} from '../images-dialect.js';
import { pictureForm } from '../picture-form.js';
import type { Picture } from '../picture.js';
import { picturesIn } from '../tasks.js';
import { imagesUsage, shownUsage } from './usage.js';

const OPERATIONS = ['generate', 'edit', 'inpaint', 'outpaint', 'mix', 'remove_background'];
const REMOVE_BACKGROUND = 'Remove the background. Keep the subject exactly as it is.';
const FILL = 'Fill the marked area so that it fits what is around it.';

/** OpenAI's images: the caller's own members go on, and members of the answer that nobody knows come back. */
export const dialect: ImagesDialect = {
  name: 'images',
  mask: 'transparent',
  unsupported: ({ operation }) => (OPERATIONS.includes(operation) ? null : new Unsupported(null)),
  run: async (request, { target, calls, facts }) => {
    const reply = await calls.send(
      request.body === null
        ? edit(request, target.upstreamModel, facts)
        : generation(request.body, target.upstreamModel),
    );
    return decode(reply.bytes, request, { calls, facts });
  },
};

function generation(body: NonNullable<ImagesRequest['body']>, model: string): UpstreamBody {
  // The models of today answer base64 only, and refuse the parameter that once asked for it.
  const { pieces, byteLength } = spliceMembers(body, { model, response_format: undefined });
  return { path: '/images/generations', contentType: JSON_TYPE, accept: JSON_TYPE, pieces, byteLength };
}

function edit(request: ImagesRequest, model: string, facts: AnswerFacts): UpstreamBody {
  const { operation, options, images, references, mask, n } = request;
  const isCutOut = operation === 'remove_background';
  const prompt = request.prompt || (isCutOut ? REMOVE_BACKGROUND : FILL);
  const cutOut = isCutOut && { background: 'transparent', output_format: 'png' };
  const fields = { model, prompt, n, ...options, ...cutOut };
  const pictures: [string, Picture][] = [...images, ...references].map((picture) => ['image[]', picture]);
  if (mask !== null) pictures.push(['mask', mask]);
  return pictureForm('/images/edits', JSON_TYPE, { fields, pictures }, facts);
}

async function decode(
  bytes: Uint8Array,
  request: ImagesRequest,
  { calls, facts }: Pick<ImagesUpstream, 'calls' | 'facts'>,
): Promise<MadeImages> {
  const answer = parseUpstreamObject(bytes);
  if (answer === null) throw badReply('the answer holds no image.');
  const made = await picturesIn(calls, answer.data, request.n);
  // Nobody pays for more than was asked for.
  const { usage, deliveredBytes } = imagesUsage(answer.usage, Math.min(made.length, request.n));
  const sent = request.images.length + request.references.length;
  return {
    images: made.map(({ item, picture }) => ({
      picture,
      members: objectOf(withoutMoney(without(item, ['b64_json', 'url']))),
    })),
    members: {
      ...objectOf(withoutMoney(withoutServer(without(answer, ['data', 'usage'])))),
      ...('model' in answer && { model: facts.model }),
      usage: shownUsage(answer.usage, facts.believed(usage)),
    },
    usage: { ...usage, ...(sent > 0 && { input_images: sent }) },
    deliveredBytes,
    context: { ...request.context, ...imagesContext(answer) },
  };
}
