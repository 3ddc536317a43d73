import { UpstreamCallsDouble } from '@gateway/testing/upstream-calls';
import { readForm, type Form } from '../body/multipart.js';
import type { AnswerFacts, RouteTarget } from '../translation/translation.js';
import { imagesContext, type ImagesDialect, type ImagesRequest, type MadeImages } from './images-dialect.js';
import { pictureOf, type Picture } from './picture.js';

/** The header of a PNG of 64 x 32: enough to say what it is. */
export const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452000000400000002008020000', 'hex');
export const BASE64 = PNG.toString('base64');
export const DATA_URL = `data:image/png;base64,${BASE64}`;
export const PICTURE = pictureOf(PNG) as Picture;

const FACTS: AnswerFacts = {
  requestId: 'req_1',
  model: 'acme/painter',
  created: 1_700_000_000,
  now: () => 1_700_000_001,
  answerId: () => 'img_1',
  tier: 'default',
  byokUsed: false,
  fallbackTriggered: false,
  believed: (reported) => reported,
};

export function targetOf(upstreamModel: string): RouteTarget {
  return {
    dialect: 'x',
    upstreamModel,
    maxOutputTokens: null,
    contextLength: 10_000,
    reasoning: { style: 'none' },
    fixesSampling: false,
    quirks: {},
  };
}

export function asked(given: Partial<ImagesRequest>): ImagesRequest {
  return {
    operation: 'generate',
    prompt: 'A fox',
    n: 1,
    images: [],
    references: [],
    mask: null,
    margins: null,
    upscaleFactor: null,
    aspectRatio: null,
    options: {},
    body: null,
    context: imagesContext(given.options ?? {}),
    ...given,
  };
}

interface Ran {
  calls: UpstreamCallsDouble;
  made: MadeImages;
}

/** Runs a request over a provider that answers in this order. */
export async function run(
  dialect: ImagesDialect,
  model: string,
  given: Partial<ImagesRequest>,
  replies: ConstructorParameters<typeof UpstreamCallsDouble>[0],
): Promise<Ran> {
  const calls = new UpstreamCallsDouble(replies);
  return { calls, made: await dialect.run(asked(given), { target: targetOf(model), calls, facts: FACTS }) };
}

/** The form of a call, its files by name and size. */
export function formIn({ body, contentType }: UpstreamCallsDouble['sent'][number]): {
  fields: Record<string, string>;
  files: [string, string, number][];
} {
  const { fields, files } = readForm(body, contentType) as Form;
  return {
    fields: Object.fromEntries(fields),
    files: files.map(({ field, contentType: type, bytes }) => [field, type, bytes.byteLength]),
  };
}
