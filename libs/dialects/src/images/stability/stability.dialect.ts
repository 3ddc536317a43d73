import { filled, type JsonObject } from '../../body/json-object.js';
import { polled } from '../../tasks/polled.js';
import { badReply } from '../../translation/exchange.js';
import { Unsupported } from '../../translation/translation.js';
import { JSON_TYPE, lookAtPath } from '../../translation/upstream-body.js';
import { unitUsage, type ImagesDialect, type ImagesRequest } from '../images-dialect.js';
import { pictureForm } from '../picture-form.js';
import { base64In, type Picture } from '../picture.js';
import { objectIn, ratioOf, sentCount } from '../requests.js';
import { moderated, taskIn } from '../tasks.js';

const ROOT = '/v2beta/stable-image';
const POLL_MS = 1_000;
const OPERATIONS = ['generate', 'inpaint', 'outpaint', 'remove_background', 'upscale'];

/** Stability: a service of its own for each operation, one image each. White is repainted. */
export const dialect: ImagesDialect = {
  name: 'stability',
  mask: 'white',
  takesMargins: true,
  takes: ['size', 'aspect_ratio', 'negative_prompt', 'seed', 'output_format', 'style_preset'],
  unsupported: ({ operation, n }) => {
    if (!OPERATIONS.includes(operation)) return new Unsupported(null);
    return n > 1 ? new Unsupported('n') : null;
  },
  run: async (request, { target, calls, facts }) => {
    const { path, fields } = serviceOf(request, target.upstreamModel);
    const { images, mask } = request;
    const pictures: [string, Picture][] = images.map((picture) => ['image', picture]);
    if (mask !== null) pictures.push(['mask', mask]);
    const reply = await calls.send(pictureForm(`${ROOT}${path}`, JSON_TYPE, { fields, pictures }, facts));
    let answer = objectIn(reply);
    // Slow services answer a task.
    if (reply.status === 202) {
      const id = taskIn(answer.id);
      await calls.note(id);
      answer = await polled(calls, {
        everyMs: POLL_MS,
        look: lookAtPath(`/v2beta/results/${encodeURIComponent(id)}`),
        read: (result) => (filled(result.image) === null && !('finish_reason' in result) ? null : result),
      });
    }
    if (answer.finish_reason === 'CONTENT_FILTERED') throw moderated('');
    const image = base64In(answer.image);
    if (image === null) throw badReply('the answer holds no image.');
    return {
      images: [{ picture: { base64: image } }],
      usage: unitUsage(1, sentCount(request)),
      context: request.context,
    };
  },
};

function serviceOf(request: ImagesRequest, model: string): { path: string; fields: JsonObject } {
  const { operation, prompt, options, margins } = request;
  const { negative_prompt, seed, output_format, style_preset } = options;
  switch (operation) {
    case 'inpaint':
      // Without words the marked area is cleared.
      return prompt === ''
        ? { path: '/edit/erase', fields: { seed, output_format } }
        : { path: '/edit/inpaint', fields: { prompt, negative_prompt, seed, output_format, style_preset } };
    case 'outpaint':
      return { path: '/edit/outpaint', fields: { prompt, ...margins, seed, output_format, style_preset } };
    case 'remove_background':
      return { path: '/edit/remove-background', fields: { output_format: pngOr(output_format) } };
    case 'upscale':
      return { path: '/upscale/fast', fields: { output_format } };
    default: {
      const aspect_ratio = ratioOf(request);
      const fields = { prompt, negative_prompt, aspect_ratio, seed, output_format, style_preset };
      return model.startsWith('sd3')
        ? { path: '/generate/sd3', fields: { ...fields, model } }
        : { path: `/generate/${model}`, fields };
    }
  }
}

/** A format that can be transparent. */
function pngOr(format: unknown): string {
  return format === 'webp' ? 'webp' : 'png';
}
