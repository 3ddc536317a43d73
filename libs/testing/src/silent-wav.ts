const HEADER_BYTES = 44;
const BYTES_PER_SECOND = 8_000;
const SILENCE = 128;

/** Returns a WAV of silence at 8 kHz, 8 bit, one channel. */
export function silentWav(seconds: number): Uint8Array<ArrayBuffer> {
  const bytes = Math.round(seconds * BYTES_PER_SECOND);
  const wav = Buffer.alloc(HEADER_BYTES + bytes, SILENCE);
  wav.write('RIFF\0\0\0\0WAVEfmt ', 0, 'latin1');
  const fields = [16, 0x00010001, BYTES_PER_SECOND, BYTES_PER_SECOND, 0x00080001];
  for (const [at, value] of fields.entries()) wav.writeUInt32LE(value, 16 + at * 4);
  wav.write('data', 36, 'latin1');
  wav.writeUInt32LE(bytes, 40);
  return wav;
}
