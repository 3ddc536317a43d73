import type { RawData, WebSocket } from 'ws';
import { isObject, objectOf, objectsOf, parseJson, textOf, type JsonObject } from '../json.js';

/** PCM of 16 bit at 24 kHz. */
const BYTES_PER_SECOND = 48_000;
const TOKENS_PER_SECOND = 25;
const TOKEN_BYTES = 4;
const MESSAGES_KEPT_MAX = 10_000;
const SPOKEN = Buffer.alloc(BYTES_PER_SECOND).toString('base64');

/**
 * One session of Google's Live API. What is said decides what becomes of it: `!call` asks for a function, `!interrupt` is cut
 * short by the caller's voice, `!close 1008` closes it so. Anything before the setup, and a second setup, closes it too.
 */
export class LiveSession {
  /** Messages as they came. */
  readonly received: JsonObject[] = [];
  closedWith: number | null = null;
  private setup: JsonObject | null = null;
  private audioBytes = 0;

  constructor(private readonly ws: WebSocket) {
    ws.on('message', (data) => this.message(data));
    ws.on('close', (code) => (this.closedWith = code));
    ws.on('error', () => undefined);
  }

  private message(data: RawData): void {
    const message = parseJson((data as Buffer).toString('utf8'));
    if (!isObject(message)) return this.ws.close(1_007, 'no JSON object');
    if (this.received.length < MESSAGES_KEPT_MAX) this.received.push(message);
    if ((this.setup === null) !== isObject(message.setup))
      return this.ws.close(1_007, 'setup comes first, once');
    if (isObject(message.setup)) {
      this.setup = message.setup;
      return this.send({ setupComplete: {} });
    }
    const { clientContent, realtimeInput, toolResponse } = message;
    if (isObject(realtimeInput)) return this.heard(realtimeInput);
    if (isObject(toolResponse)) {
      const [first] = objectsOf(toolResponse.functionResponses);
      return this.answer(`The tool answered: ${JSON.stringify(objectOf(first.response).output)}`, 10);
    }
    const { turns, turnComplete } = objectOf(clientContent);
    if (turnComplete !== true) return;
    const said = objectsOf(turns)
      .flatMap(({ parts }) => objectsOf(parts))
      .map(({ text }) => textOf(text))
      .join(' ');
    this.said(said);
  }

  private heard({ audio, audioStreamEnd, activityEnd }: JsonObject): void {
    this.audioBytes += Buffer.from(textOf(objectOf(audio).data), 'base64').byteLength;
    if (audioStreamEnd !== true && activityEnd === undefined) return;
    const seconds = this.audioBytes / BYTES_PER_SECOND;
    this.audioBytes = 0;
    const text = `A recording of ${seconds.toFixed(1)} seconds.`;
    if (isObject(this.setup?.inputAudioTranscription)) this.content({ inputTranscription: { text } });
    this.answer(text, 0, Math.ceil(seconds * TOKENS_PER_SECOND));
  }

  private said(text: string): void {
    const code = /!close (\d{4})/.exec(text)?.[1];
    if (code !== undefined) return this.ws.close(Number(code), 'as asked for');
    const tokens = Math.ceil(Buffer.byteLength(text) / TOKEN_BYTES);
    if (text.includes('!call')) {
      const functionCalls = [{ id: 'call-sim', name: 'get_weather', args: { city: 'Paris' } }];
      return this.send({ toolCall: { functionCalls } });
    }
    if (text.includes('!interrupt')) {
      this.content({ modelTurn: { parts: [{ text: 'I was about to' }] } });
      this.content({ interrupted: true });
      return this.send({ serverContent: { turnComplete: true }, usageMetadata: this.usage(tokens, 4, 0) });
    }
    this.answer(`You said: "${text}".`, tokens);
  }

  private answer(text: string, textTokens: number, audioTokens = 0): void {
    const { responseModalities } = objectOf(this.setup?.generationConfig);
    const isSpoken = Array.isArray(responseModalities) && responseModalities.includes('AUDIO');
    if (isSpoken) {
      const inlineData = { mimeType: 'audio/pcm;rate=24000', data: SPOKEN };
      this.content({ modelTurn: { role: 'model', parts: [{ inlineData }] } });
      this.content({ outputTranscription: { text } });
    } else this.content({ modelTurn: { role: 'model', parts: [{ text }] } });
    this.content({ generationComplete: true });
    const written = Math.ceil(Buffer.byteLength(text) / TOKEN_BYTES);
    const said = isSpoken ? this.usage(textTokens, 0, audioTokens, TOKENS_PER_SECOND) : null;
    const usageMetadata = said ?? this.usage(textTokens, written, audioTokens);
    this.send({ serverContent: { turnComplete: true }, usageMetadata });
  }

  private usage(text: number, written: number, audio: number, spoken = 0): JsonObject {
    const details = (modality: string, tokenCount: number): JsonObject[] =>
      tokenCount > 0 ? [{ modality, tokenCount }] : [];
    return {
      promptTokenCount: text + audio,
      responseTokenCount: written + spoken,
      totalTokenCount: text + audio + written + spoken,
      promptTokensDetails: [...details('TEXT', text), ...details('AUDIO', audio)],
      responseTokensDetails: [...details('TEXT', written), ...details('AUDIO', spoken)],
    };
  }

  private content(serverContent: JsonObject): void {
    this.send({ serverContent });
  }

  /** Sends binary frames, as Google does. */
  private send(message: JsonObject): void {
    this.ws.send(Buffer.from(JSON.stringify(message)), { binary: true });
  }
}
