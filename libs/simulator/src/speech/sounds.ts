import type { SimAnswer } from '../sim-endpoint.js';

/** A character is 20 ms: a tenth of a second would be slow speech, and more bytes than a first try needs. */
const SAMPLES = 160;
const RATE = 8_000;
const HEADER_BYTES = 44;
/** OpenAI's rate of raw samples, which are 16 bit, the low byte first. */
const PCM_RATE = 24_000;
/** A frame of MPEG-2 layer III, 24 kHz, 48 kbit/s, one channel: with nothing in it, 24 ms of silence. */
const MP3_FRAME_BYTES = 144;
const MP3_FRAME_HEAD = [0xff, 0xf3, 0x64, 0xc0];

/**
 * Returns a sound for a text of so many characters: a tone as WAV or raw samples, silence as MP3. Opus, AAC and FLAC
 * would take an encoder: they are WAV, and the media type says so.
 */
export function soundOf(format: string, characters: number): SimAnswer {
  if (format === 'mp3') return { contentType: 'audio/mpeg', body: mp3Of(characters) };
  if (format === 'pcm') return { contentType: 'audio/pcm', body: samplesOf(characters) };
  return { contentType: 'audio/wav', body: wavOf(characters * SAMPLES) };
}

function mp3Of(frames: number): Buffer {
  const mp3 = Buffer.alloc(frames * MP3_FRAME_BYTES);
  for (let at = 0; at < mp3.length; at += MP3_FRAME_BYTES) mp3.set(MP3_FRAME_HEAD, at);
  return mp3;
}

function samplesOf(characters: number): Buffer {
  const samples = (characters * SAMPLES * PCM_RATE) / RATE;
  const pcm = Buffer.alloc(samples * 2);
  for (let at = 0; at < samples; at += 1) pcm.writeInt16LE(at % 120 < 60 ? 8_192 : -8_192, at * 2);
  return pcm;
}

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
