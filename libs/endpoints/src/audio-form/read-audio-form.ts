import { ApiError } from '@gateway/contracts';
import {
  exchangeTranslation,
  filled,
  invalidBody,
  Unsupported,
  readForm,
  schemaFault,
  TRANSCRIPTIONS_DIALECTS,
  writeTranscript,
  type Form,
  type FormFile,
  type LazySchema,
  type RouteTarget,
  type TranscriptionRequest,
  type Translation,
  type UpstreamBody,
} from '@gateway/dialects';
import { BodyFault } from '@gateway/json-body';
import { recordingBound } from '@gateway/money';
import type { Asked, CallerBody } from '../endpoint.js';
import { audioSeconds, containerOf } from './audio-duration.js';

/** OpenAI's own bound; above 32 MiB the request does not come this far. */
const FILE_BYTES_MAX = 25 * 1024 * 1024;
/** 32 kbit/s: what a recording without a duration in its headers is taken for. */
const LIKELY_BYTES_PER_SECOND = 4_000;

/** Fields that the gateway answers to itself, whatever the upstream. */
const OURS = new Set(['model', 'response_format', 'stream']);

/** Schema of the recording; the form's files are read apart from its fields. */
export const AUDIO_FILE = { file: { type: 'string', format: 'binary' } };

/** Fields that both endpoints take. */
export const AUDIO_FIELDS = {
  model: { type: 'string' },
  prompt: { type: 'string', maxLength: 65_536 },
  temperature: { type: 'string', pattern: '^(0(\\.\\d+)?|1(\\.0+)?)$' },
};

/** A form with one recording. Throws ApiError validation_error, and invalid_input where the file is no audio. */
export function readAudioForm(
  { bytes, headers }: CallerBody,
  schema: LazySchema,
  task: TranscriptionRequest['task'],
): Asked<TranscriptionRequest> {
  const form = readForm(bytes, headers['content-type'] ?? '');
  if (form instanceof BodyFault) throw invalidBody(form.detail);
  const fields = objectOfFields(form);
  const { validate } = schema;
  if (!validate(fields)) throw invalidBody(schemaFault(validate.errors?.[0]));
  const file = fileOf(form);
  const stream = fields.stream === 'true';
  const seconds = audioSeconds(file.bytes) ?? file.bytes.byteLength / LIKELY_BYTES_PER_SECOND;
  const prompt = typeof fields.prompt === 'string' ? fields.prompt : '';
  return {
    model: filled(fields.model),
    stream,
    tier: 'default',
    endUser: null,
    serves: { type: 'stt', status: task === 'translate' ? 422 : 400 },
    requires: [],
    dialect: 'transcriptions',
    input: {
      inputBytes: Buffer.byteLength(prompt),
      inputImages: 0,
      inputAudioSeconds: Math.ceil(seconds),
      inputDocuments: [],
    },
    billableUnits: { audio_seconds: seconds.toFixed(3) },
    recording: recordingBound(seconds, file.bytes.byteLength),
    maxOutputTokens: null,
    choices: 1,
    writesCache: false,
    context: {},
    request: { task, format: filled(fields.response_format) ?? 'json', stream, seconds, form, file },
  };
}

/** Values by name; of a name that ends in [] a list. A form is sent on: of two values an upstream may believe the other. */
function objectOfFields({ fields }: Form): Record<string, string | string[]> {
  const found = new Map<string, string | string[]>();
  for (const [name, value] of fields) {
    const before = found.get(name);
    if (before !== undefined && !name.endsWith('[]'))
      throw invalidBody({ type: 'max_items', loc: [name], msg: 'one value only' });
    found.set(name, name.endsWith('[]') ? [...(before ?? []), value] : value);
  }
  return Object.fromEntries(found);
}

function fileOf({ files }: Form): FormFile {
  const file = files.find(({ field }) => field === 'file');
  if (file === undefined) throw invalidBody({ type: 'missing', loc: ['file'], msg: 'field required' });
  if (files.length > 1) throw invalidBody({ type: 'max_items', loc: ['file'], msg: 'one file only' });
  if (file.bytes.byteLength > FILE_BYTES_MAX)
    throw invalidBody({ type: 'too_large', loc: ['file'], msg: `more than ${FILE_BYTES_MAX} bytes` });
  if (containerOf(file.bytes) === null)
    throw new ApiError('invalid_input', {
      message: 'The file is no audio of a kind that is taken: flac, mp3, mp4, m4a, ogg, wav, webm.',
      param: 'file',
    });
  return file;
}

export function translateAudio(
  { request }: Asked<TranscriptionRequest>,
  route: RouteTarget,
): Translation | Unsupported {
  const dialect = TRANSCRIPTIONS_DIALECTS.get(route.dialect);
  if (dialect === undefined) return new Unsupported(null);
  const unsupported = dialect.unsupported(request);
  if (unsupported !== null) return unsupported;
  if ('run' in dialect)
    return exchangeTranslation(
      async (calls) => writeTranscript(await dialect.run(request, route, calls), request),
      request.form.fields.flatMap(([name]) => (OURS.has(name) || dialect.takes.includes(name) ? [] : [name])),
    );
  let body: UpstreamBody | null = null;
  const encoded = (): UpstreamBody => (body ??= dialect.encode(request, route));
  return {
    get request() {
      return encoded();
    },
    prepare: () => void encoded(),
    ignored: [],
    begin: (head) => dialect.begin(head, request),
  };
}
