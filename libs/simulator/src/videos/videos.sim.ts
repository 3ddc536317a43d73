import { openAiError } from '../errors-openai.js';
import { textOf } from '../json.js';
import { JSON_TYPE } from '../reply.js';
import type { SimEndpoint } from '../sim-endpoint.js';

/** OpenRouter's videos: the task is done by the first poll, and as long as was asked. */
export const simulated: SimEndpoint = {
  path: '/videos',
  answer: ({ json = {}, id }) => {
    if (textOf(json.prompt) === '' && json.frame_images === undefined)
      return openAiError(
        400,
        'invalid_request_error',
        'missing_required_parameter',
        'prompt is missing.',
        'prompt',
      );
    const seconds = typeof json.duration === 'number' ? json.duration : 8;
    const task = `video-${id}-${seconds}-simulated`;
    return { contentType: JSON_TYPE, body: JSON.stringify({ id: task, status: 'pending' }) };
  },
};
