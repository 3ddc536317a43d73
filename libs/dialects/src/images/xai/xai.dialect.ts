import { filled } from '../../body/json-object.js';
import { Unsupported } from '../../translation/translation.js';
import { jsonBody, JSON_TYPE } from '../../translation/upstream-body.js';
import { unitUsage, type ImagesDialect } from '../images-dialect.js';
import { dataUrlOf } from '../picture.js';
import { given, objectIn, promptOf, ratioOf, sentCount } from '../requests.js';
import { picturesIn } from '../tasks.js';

const OPERATIONS = ['generate', 'edit', 'mix', 'reframe'];
const PICTURES_MAX = 3;

/** xAI: OpenAI's answer; edits are JSON, formats are ratios. It takes no mask. */
export const dialect: ImagesDialect = {
  name: 'xai-images',
  takes: ['size', 'aspect_ratio', 'resolution'],
  unsupported: (request) => {
    if (!OPERATIONS.includes(request.operation)) return new Unsupported(null);
    return sentCount(request) > PICTURES_MAX ? new Unsupported('image') : null;
  },
  run: async (request, { target, calls }) => {
    const { images, references, n, options, context } = request;
    const sent = [...images, ...references].map((picture) => ({
      type: 'image_url',
      url: dataUrlOf(picture),
    }));
    const body = given({
      model: target.upstreamModel,
      prompt: promptOf(request),
      n,
      response_format: 'b64_json',
      aspect_ratio: ratioOf(request),
      resolution: options.resolution,
      image: sent.length === 1 ? sent[0] : null,
      images: sent.length > 1 ? sent : null,
    });
    const path = sent.length === 0 ? '/images/generations' : '/images/edits';
    const answer = objectIn(await calls.send(jsonBody(path, JSON_TYPE, body)));
    const made = await picturesIn(calls, answer.data, n);
    return {
      images: made.map(({ item, picture }) => ({
        picture,
        members: given({ revised_prompt: filled(item.revised_prompt) }),
      })),
      usage: unitUsage(Math.min(made.length, n), sent.length),
      context,
    };
  },
};
