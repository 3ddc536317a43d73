import type { NativeError } from '../error-table.js';
import { openAiError } from '../errors-openai.js';
import { isObject, textOf, type JsonObject } from '../json.js';
import { JSON_TYPE, STREAM_TYPE } from '../reply.js';
import { numberOf, type Script } from '../script.js';
import type { SimAnswer, SimEndpoint } from '../sim-endpoint.js';
import { soundOf } from './sounds.js';

/** The speech of OpenAI and Mistral, which differ by their word for the voice, of ElevenLabs, Deepgram and xAI. */
export const simulated: readonly SimEndpoint[] = [
  {
    path: '/audio/speech',
    answer: ({ json, script }) => {
      const input = textOf(json?.input);
      const sound = saying(input, 'input', textOf(json?.response_format) || 'mp3');
      if ('status' in sound) return sound;
      const audio = Buffer.from(sound.body);
      if (json?.voice_id !== undefined)
        return { contentType: JSON_TYPE, body: JSON.stringify({ audio_data: audio.toString('base64') }) };
      return json?.stream_format === 'sse' ? eventsOf(audio, input, script) : sound;
    },
  },
  {
    path: /\/text-to-speech\/[^/]+$/,
    answer: ({ json, path }) => {
      const [codec] = (queryOf(path).get('output_format') ?? 'mp3').split('_');
      return saying(textOf(json?.text), 'text', codec);
    },
  },
  {
    path: '/speak',
    answer: ({ json, path }) => {
      const query = queryOf(path);
      const encoding = query.get('encoding') ?? 'mp3';
      const isRaw = query.get('container') === 'none';
      const text = textOf(json?.text);
      const sound = saying(text, 'text', encoding === 'linear16' ? (isRaw ? 'pcm' : 'wav') : encoding);
      return 'status' in sound ? sound : { ...sound, headers: { 'dg-char-count': String(text.length) } };
    },
  },
  {
    path: '/tts',
    answer: ({ json }) => {
      const { output_format: format } = json ?? {};
      const codec = isObject(format) ? textOf(format.codec) : '';
      return saying(textOf(json?.text), 'text', codec || 'mp3');
    },
  },
];

function queryOf(path: string): URLSearchParams {
  return new URLSearchParams(path.slice(path.indexOf('?') + 1));
}

/** The text as sound; an empty one is refused by the name of its member. */
function saying(text: string, member: string, format: string): SimAnswer | NativeError {
  if (text !== '') return soundOf(format, text.length);
  return openAiError(400, 'invalid_request_error', null, `Missing required parameter: '${member}'.`, member);
}

function eventsOf(audio: Buffer, input: string, script: Script): SimAnswer {
  const half = audio.length >> 1;
  const usage = {
    input_tokens: numberOf(script, 'prompt', Math.ceil(Buffer.byteLength(input) / 4)),
    output_tokens: numberOf(script, 'completion', input.length),
  };
  const events: JsonObject[] = [
    ...[audio.subarray(0, half), audio.subarray(half)].map((part) => ({
      ...{ type: 'speech.audio.delta', audio: part.toString('base64') },
    })),
    { type: 'speech.audio.done', usage },
  ];
  const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
  return { contentType: STREAM_TYPE, body };
}
