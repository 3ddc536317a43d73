import { openAiError } from '../errors-openai.js';
import { textOf } from '../json.js';
import { JSON_TYPE, STREAM_TYPE } from '../reply.js';
import { numberOf } from '../script.js';
import type { SimEndpoint } from '../sim-endpoint.js';

const RATE = 8_000;
const HEADER_BYTES = 44;
/** Samples of one character: a tenth of a second would be slow speech, and more bytes than a first try needs. */
const SAMPLES = 160;

/** OpenAI's speech, and Mistral's by its word for the voice: a WAV file of a tone as long as the text, whatever was asked for. */
export const simulated: SimEndpoint = {
  path: '/audio/speech',
  answer: ({ json, script }) => {
    const input = textOf(json?.input);
    if (input === '')
      return openAiError(400, 'invalid_request_error', null, "Missing required parameter: 'input'.", 'input');
    const audio = wavOf(input.length * SAMPLES);
    if (json?.voice_id !== undefined)
      return { contentType: JSON_TYPE, body: JSON.stringify({ audio_data: audio.toString('base64') }) };
    if (json?.stream_format !== 'sse') return { contentType: 'audio/wav', body: audio };
    const [first, second] = [audio.subarray(0, HEADER_BYTES), audio.subarray(HEADER_BYTES)];
    const usage = {
      input_tokens: numberOf(script, 'prompt', Math.ceil(Buffer.byteLength(input) / 4)),
      output_tokens: numberOf(script, 'completion', input.length),
    };
    const events = [
      ...[first, second].map((part) => ({ type: 'speech.audio.delta', audio: part.toString('base64') })),
      { type: 'speech.audio.done', usage },
    ];
    const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
    return { contentType: STREAM_TYPE, body };
  },
};

/** 8 bit, one channel: a tone of 200 Hz. */
function wavOf(samples: number): Buffer {
  const wav = Buffer.alloc(HEADER_BYTES + samples, 128);
  wav.write('RIFF', 0, 'latin1');
  wav.writeUInt32LE(HEADER_BYTES - 8 + samples, 4);
  wav.write('WAVEfmt ', 8, 'latin1');
  wav.writeUInt32LE(16, 16);
  wav.writeUInt16LE(1, 20);
  wav.writeUInt16LE(1, 22);
  wav.writeUInt32LE(RATE, 24);
  wav.writeUInt32LE(RATE, 28);
  wav.writeUInt16LE(1, 32);
  wav.writeUInt16LE(8, 34);
  wav.write('data', 36, 'latin1');
  wav.writeUInt32LE(samples, 40);
  for (let at = 0; at < samples; at += 1) wav[HEADER_BYTES + at] = at % 40 < 20 ? 160 : 96;
  return wav;
}
