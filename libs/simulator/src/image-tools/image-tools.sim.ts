import { openAiError } from '../errors-openai.js';
import { PIXEL } from '../images/painted.js';
import { JSON_TYPE } from '../reply.js';
import type { SimEndpoint } from '../sim-endpoint.js';

/** Recraft's tools: a form with one image, and one with a mask where a part is repainted. */
export const simulated: SimEndpoint = {
  path: ['/images/removeBackground', '/images/crispUpscale', '/images/inpaint', '/images/outpaint'],
  answer: ({ body, contentType }) => {
    const isForm = contentType.startsWith('multipart/form-data') && body.includes('name="image"; filename=');
    if (!isForm) return openAiError(400, 'invalid_request_error', null, "Missing 'image'.", 'image');
    const image = { b64_json: PIXEL };
    return { contentType: JSON_TYPE, body: JSON.stringify({ image, data: [image] }) };
  },
};
