import type { NativeError } from '../error-table.js';
import { openAiError } from '../errors-openai.js';
import { STREAM_TYPE, JSON_TYPE } from '../reply.js';
import type { SimEndpoint } from '../sim-endpoint.js';

type Request = Parameters<SimEndpoint['answer']>[0];
type Answer = ReturnType<SimEndpoint['answer']>;

/** Bytes that are taken for one second: 16 kbit/s. */
const BYTES_PER_SECOND = 2_000;
/** Figures of whisper for each segment of verbose_json; strict clients refuse a segment without. */
const LIKELIHOOD = {
  seek: 0,
  tokens: [1],
  temperature: 0,
  avg_logprob: -0.2,
  compression_ratio: 1,
  no_speech_prob: 0.01,
};

/** A form with a recording. */
interface Recording {
  readonly fieldOf: (name: string) => string | undefined;
  readonly bytes: number;
  readonly seconds: number;
}

/** Returns the answer to a form with a recording. Models with `tokens` in their name report tokens, others seconds. */
export function heard(request: Request, textOf: (bytes: number) => string): Answer {
  const recording = recordingIn(request);
  if ('status' in recording) return recording;
  const { fieldOf, bytes, seconds } = recording;
  const model = fieldOf('model');
  if (model === undefined) return missing('model');
  const text = textOf(bytes);
  const usage = model.includes('tokens')
    ? {
        type: 'tokens',
        input_tokens: 10 * seconds,
        input_token_details: { text_tokens: 0, audio_tokens: 10 * seconds },
        output_tokens: text.split(' ').length,
        total_tokens: 10 * seconds + text.split(' ').length,
      }
    : { type: 'duration', seconds };
  if (fieldOf('stream') === 'true') return streamed(text, usage);
  return answered(fieldOf('response_format') ?? 'json', { text, seconds, usage });
}

export function recordingIn({ body, contentType }: Request): Recording | NativeError {
  const form = body.toString('latin1');
  const boundary = /boundary="?([^";]+)"?/.exec(contentType)?.[1];
  if (boundary === undefined) return missing('file');
  const parts = form.split(`--${boundary}`);
  const fieldOf = (name: string): string | undefined =>
    parts
      .find((part) => part.includes(`name="${name}"\r\n\r\n`))
      ?.split('\r\n\r\n', 2)[1]
      .trimEnd();
  const file = parts.find((part) => part.includes('name="file"; filename='));
  if (file === undefined) return missing('file');
  const bytes = file.length - file.indexOf('\r\n\r\n') - 6;
  return { fieldOf, bytes, seconds: Math.max(1, Math.ceil(bytes / BYTES_PER_SECOND)) };
}

function answered(
  format: string,
  { text, seconds, usage }: { text: string; seconds: number; usage: object },
): Answer {
  const end = `00:00:${String(seconds % 60).padStart(2, '0')}`;
  if (format === 'srt')
    return { contentType: 'text/plain', body: `1\n00:00:00,000 --> ${end},000\n${text}\n\n` };
  if (format === 'vtt')
    return { contentType: 'text/vtt', body: `WEBVTT\n\n00:00:00.000 --> ${end}.000\n${text}\n\n` };
  if (format === 'json') return { contentType: JSON_TYPE, body: JSON.stringify({ text, usage }) };
  const segment = { id: 0, start: 0, end: seconds, text, speaker: 'A', ...LIKELIHOOD };
  const whole = {
    task: 'transcribe',
    language: 'english',
    duration: seconds,
    text,
    segments: [segment],
    usage,
  };
  return { contentType: JSON_TYPE, body: JSON.stringify(whole) };
}

function streamed(text: string, usage: object): Answer {
  const events = [
    ...text.split(/(?<= )/).map((delta) => ({ type: 'transcript.text.delta', delta })),
    { type: 'transcript.text.done', text, usage },
  ];
  return {
    contentType: STREAM_TYPE,
    body: events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''),
  };
}

function missing(field: string): NativeError {
  return openAiError(400, 'invalid_request_error', null, `Missing required parameter: '${field}'.`, field);
}
