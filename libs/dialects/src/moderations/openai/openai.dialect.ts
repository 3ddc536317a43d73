import { spliceMembers } from '@gateway/json-body';
import { isObject } from '../../body/json-object.js';
import { parseUpstreamObject } from '../../body/upstream-json.js';
import { withoutMoney } from '../../translation/money-names.js';
import { withoutServer } from '../../body/server-names.js';
import { JSON_TYPE } from '../../translation/upstream-body.js';
import { badAnswer } from '../../translation/whole-answer.js';
import type { ModerationsDialect } from '../moderations-dialect.js';

/** OpenAI's moderations: the caller's bytes go on, and members of the answer that nobody knows come back. */
export const dialect: ModerationsDialect = {
  name: 'moderations',
  encode: (body, { upstreamModel }) => {
    const { pieces, byteLength } = spliceMembers(body, { model: upstreamModel });
    return { path: '/moderations', contentType: JSON_TYPE, accept: JSON_TYPE, pieces, byteLength };
  },
  decode: (bytes, { model }, inputs) => {
    const answer = parseUpstreamObject(bytes);
    const results: unknown = answer?.results;
    // Who judges by what is missing would take it for harmless, and by one too many for something else.
    if (answer === null || !Array.isArray(results) || results.length !== inputs || !results.every(isObject))
      return badAnswer('the answer holds no result for each input of a moderation.');
    const shown = { ...(withoutMoney(withoutServer(answer)) as object), model };
    // Nothing is generated. The provider counts no tokens, so the input is estimated.
    return { kind: 'end', out: JSON.stringify(shown), usage: { completion_tokens: 0 } };
  },
};
