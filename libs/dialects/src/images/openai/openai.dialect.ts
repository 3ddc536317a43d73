import { filled, objectOf, objectsOf } from '../../body/json-object.js';
import { spliceMembers } from '../../body/splice.js';
import { parseUpstreamObject } from '../../body/upstream-json.js';
import { withoutMoney } from '../../translation/money-names.js';
import { JSON_TYPE } from '../../translation/upstream-body.js';
import { badAnswer } from '../../translation/whole-answer.js';
import { imagesContext, type ImagesDialect } from '../images-dialect.js';
import { imagesUsage, shownUsage } from './usage.js';

/** OpenAI's images: the caller's bytes go on, and members of the answer that nobody knows come back. */
export const dialect: ImagesDialect = {
  name: 'images',
  encode: ({ body }, { upstreamModel }) => {
    // The models of today answer base64 only, and refuse the parameter that once asked for it.
    const changes = { model: upstreamModel, response_format: undefined };
    const { pieces, byteLength } = spliceMembers(body, changes);
    return { path: '/images/generations', contentType: JSON_TYPE, accept: JSON_TYPE, pieces, byteLength };
  },
  decode: (bytes, request, facts) => {
    const answer = parseUpstreamObject(bytes);
    const made = objectsOf(answer?.data).filter(({ b64_json }) => filled(b64_json) !== null).length;
    if (answer === null || made === 0) return badAnswer('the answer holds no image.');
    // Nobody pays for more than was asked for.
    const { usage, deliveredBytes } = imagesUsage(answer.usage, Math.min(made, request.n));
    const { usage: raw, ...rest } = answer;
    const shown = {
      created: facts.created,
      ...objectOf(withoutMoney(rest)),
      usage: shownUsage(raw, facts.believed(usage)),
    };
    return {
      kind: 'end',
      out: JSON.stringify(shown),
      usage,
      deliveredBytes,
      context: { ...request.context, ...imagesContext(answer) },
    };
  },
};
